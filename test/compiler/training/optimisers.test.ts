import { existsSync } from "node:fs";
import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { runCase } from "../../../src/examine/conform/runCase.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { int64Tensor, numberTensor } from "../../../src/model/onnx/tensorData.ts";
import { buildModel, type AttributeValue } from "../../../testkit/onnx/onnxBuilder.ts";

/** Where Debian puts the ONNX backend tests. */
const CASES = "/usr/share/libonnx-testdata/data/node";

const X = [0.5, -1.25, 2];
const G = [0.75, 0.5, -3];
const STATE = [
  [0.25, 0.5, 1.5],
  [1, 2, 0.125],
] as const;
const RATE = 0.125;

/** The outputs of one update in float32, by the operator. */
function update(operator: string, count: number, states: number, attributes: Record<string, AttributeValue>) {
  const dtype = DType.float32;
  const names = ["r", "t", "x", "g", ...Array.from({ length: states }, (_, k) => `s${k}`)];
  const outputs = ["x1", ...Array.from({ length: states }, (_, k) => `n${k}`)];
  const bytes = buildModel({
    opset: 17,
    inputs: names.map((name) => ({
      name,
      dtype: name === "t" ? DType.int64 : dtype,
      shape: name === "r" || name === "t" ? [] : [3],
    })),
    outputs: outputs.map((name) => ({ name, dtype })),
    nodes: [{ op: operator, domain: "ai.onnx.preview.training", inputs: names, outputs, attributes }],
  });
  const compiled = compile(readModel(bytes), { shapes: {} });
  const given = [[RATE], [], X, G, ...STATE.slice(0, states)];
  const inputs = given.map((values, k) => (k === 1 ? int64Tensor([count], []) : numberTensor(dtype, values)).bytes);
  const tensors = executeReference(compiled, inputs);
  const { program } = compiled;
  return program.outputs.map((each) => [
    ...new Float32Array(Uint8Array.from(tensors[program.checkpoints[each]!.step]!).buffer),
  ]);
}

function near(got: readonly number[][], expected: readonly (readonly number[])[]): void {
  expected.forEach((list, k) => list.forEach((value, i) => expect(got[k]![i]).to.be.closeTo(value, 2e-6)));
}

describe("optimisers", () => {
  it("Adagrad: the squares of gradients are summed, and the rate decays", () => {
    const [norm, decay, epsilon] = [0.5, 0.25, 0.01];
    const g = X.map((x, i) => norm * x + G[i]!);
    const h = STATE[0].map((old, i) => old + g[i]! ** 2);
    const x = X.map((old, i) => old - ((RATE / (1 + 3 * decay)) * g[i]!) / (Math.sqrt(h[i]!) + epsilon));
    const floats = { norm_coefficient: norm, decay_factor: decay, epsilon };
    const attributes = Object.fromEntries(Object.entries(floats).map(([name, float]) => [name, { float }]));
    near(update("Adagrad", 3, 1, attributes), [x, h]);
  });

  for (const mode of ["standard", "nesterov"])
    for (const count of [0, 2])
      it(`Momentum, ${mode}, after ${count} updates`, () => {
        const [norm, alpha, beta] = [0.25, 0.875, 0.5];
        const g = X.map((x, i) => norm * x + G[i]!);
        const v = STATE[0].map((old, i) => alpha * old + (count > 0 ? beta : 1) * g[i]!);
        const direction = v.map((value, i) => (mode === "standard" ? value : g[i]! + alpha * value));
        const x = X.map((old, i) => old - RATE * direction[i]!);
        const floats = { norm_coefficient: norm, alpha, beta };
        const attributes = Object.fromEntries(Object.entries(floats).map(([name, float]) => [name, { float }]));
        near(update("Momentum", count, 1, { ...attributes, mode }), [x, v]);
      });

  for (const count of [0, 4])
    it(`Adam after ${count} updates`, () => {
      const [alpha, beta, norm, post, epsilon] = [0.75, 0.875, 0.5, 0.125, 0.001];
      const g = X.map((x, i) => norm * x + G[i]!);
      const v = STATE[0].map((old, i) => alpha * old + (1 - alpha) * g[i]!);
      const h = STATE[1].map((old, i) => beta * old + (1 - beta) * g[i]! ** 2);
      const rate = count > 0 ? (RATE * Math.sqrt(1 - beta ** count)) / (1 - alpha ** count) : RATE;
      const x = X.map((old, i) => (1 - post) * (old - (rate * v[i]!) / (Math.sqrt(h[i]!) + epsilon)));
      const floats = { alpha, beta, epsilon, norm_coefficient: norm, norm_coefficient_post: post };
      const attributes = Object.fromEntries(Object.entries(floats).map(([name, float]) => [name, { float }]));
      near(update("Adam", count, 2, attributes), [x, v, h]);
    });

  it("pass the ONNX backend tests", async function () {
    if (!existsSync(CASES)) {
      console.log("      skipped: the Debian package libonnx-testdata is not installed");
      return this.skip();
    }
    for (const name of ["adagrad", "adam", "momentum", "nesterov_momentum"])
      for (const test of [name, `${name}_multiple`]) {
        const folder = `${CASES}/test_${test}`;
        // The model of adam_multiple leaves out the epsilon of its outputs; ONNX 1.22 has it and passes.
        if (existsSync(folder) && test !== "adam_multiple")
          expect(await runCase(folder), test).to.include({ kind: "passed" });
      }
  });
});
