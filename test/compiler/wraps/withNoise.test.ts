import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { NoiseError } from "../../../src/compiler/errors.ts";
import { withNoise } from "../../../src/compiler/wraps/withNoise.ts";
import type { RunWiring } from "../../../src/compiler/runWiring.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";

const COUNT = 1024;
const X = floatTensor(Array.from({ length: COUNT }, (_, k) => k % 3)).bytes;

const model = (shape: readonly (number | string)[] = [COUNT], dtype: DType = DType.float32) =>
  readModel(
    buildModel({
      inputs: [
        { name: "x", dtype, shape },
        { name: "i", dtype: DType.int64, shape: [1] },
      ],
      outputs: [{ name: "y", dtype }],
      nodes: [{ op: "Identity", inputs: ["x"], outputs: ["y"] }],
    }),
  );

/** What is added to x, and the root of the trace. */
function noiseOf(scale: number, seed: number, index: number): { z: number[]; root: string } {
  const noisy = withNoise(model(), { x: scale }, undefined);
  expect(noisy.run).to.deep.equal({ index: ["noise_index"] });
  const compiled = compile(noisy.model, { shapes: {}, run: noisy.run });
  const given = new Map([
    ["noise_seed", int64Tensor([seed]).bytes],
    ["noise_index", int64Tensor([index]).bytes],
    ["x", X],
    ["i", int64Tensor([0]).bytes],
  ]);
  const { program } = compiled;
  const tensors = executeReference(
    compiled,
    compiled.inputs.map(({ name }) => given.get(name)!),
  );
  const y = new Float32Array(Uint8Array.from(tensors[program.checkpoints[program.outputs[0]!]!.step]!).buffer);
  const x = new Float32Array(X.buffer);
  return { z: [...y].map((value, k) => (value - x[k]!) / scale), root: String(new Trace(program, tensors).root) };
}

/** The share of normal numbers below x, by Simpson's rule. */
function normalBelow(x: number): number {
  const [from, parts] = [-8, 400];
  const step = (x - from) / parts;
  const density = (t: number): number => Math.exp((-t * t) / 2) / Math.sqrt(2 * Math.PI);
  const weight = (k: number): number => (k === 0 || k === parts ? 1 : k % 2 === 1 ? 4 : 2);
  return Array.from({ length: parts + 1 }, (_, k) => weight(k) * density(from + k * step)).reduce(
    (sum, each) => sum + (each * step) / 3,
    0,
  );
}

describe("noise against memory", () => {
  it("is normal: mean, variance, symmetry and tails of 1,024 numbers", () => {
    const { z } = noiseOf(0.5, 7, 0);
    const mean = (of: (value: number) => number): number => z.reduce((sum, value) => sum + of(value), 0) / COUNT;
    // Five standard errors of each moment.
    expect(mean((v) => v)).to.be.closeTo(0, 5 / Math.sqrt(COUNT));
    expect(mean((v) => v * v)).to.be.closeTo(1, (5 * Math.SQRT2) / Math.sqrt(COUNT));
    expect(mean((v) => v ** 3)).to.be.closeTo(0, (5 * Math.sqrt(15)) / Math.sqrt(COUNT));
    expect(mean((v) => Number(Math.abs(v) > 1))).to.be.closeTo(0.3173, (5 * 0.466) / Math.sqrt(COUNT));
    expect(mean((v) => Number(Math.abs(v) > 2))).to.be.closeTo(0.0455, (5 * 0.209) / Math.sqrt(COUNT));
  });

  it("is normal: its distribution is nowhere far from the normal one (Kolmogorov and Smirnov)", () => {
    const z = noiseOf(0.5, 11, 5).z.toSorted((a, b) => a - b);
    const far = z.map((value, k) => {
      const below = normalBelow(value);
      return Math.max(below - k / COUNT, (k + 1) / COUNT - below);
    });
    // Passed by one in a million of true normal samples.
    expect(Math.max(...far)).to.be.below(2.7 / Math.sqrt(COUNT));
  });

  it("two jobs that differ in the seed alone have one program, but other inputs, other results and other roots", () => {
    const { model: noisy, run } = withNoise(model(), { x: 1 }, undefined);
    const compiled = compile(noisy, { shapes: {}, run });
    const { program } = compiled;
    const jobOf = (seed: number) => {
      const given = new Map([
        ["noise_seed", int64Tensor([seed]).bytes],
        ["x", X],
        ["i", int64Tensor([0]).bytes],
      ]);
      const bytes = compiled.inputs.map(({ name }) => given.get(name) ?? new Uint8Array(0));
      const inputs = new RunInputs(program.inputs, { items: 1, firstItem: 0 }, bytes);
      return { inputs: inputs.roots.join(), trace: new Trace(program, executeReference(compiled, inputs.of(0))).root };
    };
    const [one, again, other] = [jobOf(1), jobOf(1), jobOf(2)];
    expect(again).to.deep.equal(one);
    expect(other.inputs).to.not.equal(one.inputs);
    expect(other.trace).to.not.equal(one.trace);
  });

  it("of another seed or another item is other noise, and another root; of the same ones the same", () => {
    const [first, again, seed, item] = [noiseOf(1, 7, 3), noiseOf(1, 7, 3), noiseOf(1, 8, 3), noiseOf(1, 7, 4)];
    expect(again).to.deep.equal(first);
    for (const other of [seed, item]) {
      expect(other.root).to.not.equal(first.root);
      const correlation = other.z.reduce((sum, value, k) => sum + value * first.z[k]!, 0) / COUNT;
      expect(correlation).to.be.closeTo(0, 5 / Math.sqrt(COUNT));
    }
  });

  it("has the scale that is asked for", () => {
    const [one, small] = [noiseOf(1, 7, 0).z, noiseOf(2 ** -10, 7, 0).z];
    small.forEach((value, k) => expect(value).to.be.closeTo(one[k]!, 1e-3));
  });

  it("takes the number of the item from the wiring, and refuses by name", () => {
    const run: RunWiring = { index: ["i"], each: ["x"] };
    const { model: noisy } = withNoise(model(), { x: 1 }, run);
    expect(noisy.graph.inputs.map(({ name }) => name)).to.deep.equal(["noise_seed", "x", "i"]);
    const refusal = (of: ReturnType<typeof model>, noise: Record<string, number>, why: RegExp): void => {
      expect(() => withNoise(of, noise, undefined)).to.throw(NoiseError, why);
    };
    refusal(model(), { z: 1 }, /no noise for "z": the inputs are "x", "i"/);
    refusal(model(), { i: 1 }, /"i" is int64/);
    refusal(model(), { x: -1 }, /scale -1/);
    refusal(model(["n"]), { x: 1 }, /shape of "x" is open/);
    expect(() => withNoise(model(), { x: 1 }, { batch: true })).to.throw(NoiseError, /one seed for all items/);
  });
});
