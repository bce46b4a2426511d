import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import type { RunWiring } from "../../../src/compiler/runWiring.ts";
import { createExecutor, type ExecutorOptions } from "../../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import { EngineFaultError } from "../../../src/executor/errors.ts";
import { planProgram } from "../../../src/executor/plan/planProgram.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { Team } from "../../../src/executor/threads/threadPool.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { MAX_VECTORS } from "../../../src/numerics/kernels/vectorProduct.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { GraphBuilder } from "../../../testkit/onnx/graphBuilder.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { faultyEngine } from "../../../testkit/programs/faultyEngine.ts";
import { randomFloats, VALUES, type Values } from "../../../testkit/programs/randomWindow.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { rejection } from "../../../testkit/rejection.ts";

const OPTIONS = { minEngineWork: 1, chunkElements: 2 ** 18, threads: 1, memoryBytes: 2 ** 32, spreads: false };
const dtype = DType.float32;
/** Unlike MatMul, Einsum leaves the weights in the model's order: terms apart, columns side by side. */
const EQUATION = "ik,kn->in";

/**
 * A vector times a constant matrix, in one of its two layouts; sometimes a part of a larger one, with columns of two
 * digits, or with something after it.
 */
function vectorProduct(prng: Prng, kind: Values, run?: RunWiring): { model: CompiledModel; input: () => Uint8Array } {
  const [terms, columns] = [1 + prng.below(40), 1 + prng.below(30)];
  const isTransposed = prng.below(2) === 0;
  const isPart = prng.below(3) === 0;
  const [more, skipped] = isPart ? [3 + prng.below(5), 1 + prng.below(2)] : [0, 0];
  const g = new GraphBuilder();
  const shape = isTransposed ? [columns, terms + more] : [terms + more, columns];
  let w = g.constant({ dtype, shape, bytes: randomFloats(prng, kind, shape[0]! * shape[1]!) });
  const int64 = (...values: number[]): string =>
    g.constant({
      dtype: DType.int64,
      shape: [values.length],
      bytes: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
    });
  if (isPart) w = g.node("Slice", [w, int64(skipped), int64(skipped + terms), int64(isTransposed ? 1 : 0)]);
  if (isTransposed) w = g.node("Transpose", [w], { perm: [1, 0] });
  let y = g.node("MatMul", ["x", w]);
  if (prng.below(2) === 0) y = g.node("Relu", [g.node("Add", [y, g.scalar(0.25)])]);
  if (columns % 2 === 0 && prng.below(2) === 0)
    y = g.node("Transpose", [g.node("Reshape", [y, int64(2, columns / 2)])], { perm: [1, 0] });
  g.nodes.push({ op: "Identity", inputs: [y], outputs: ["y"] });
  const bytes = buildModel({
    inputs: [{ name: "x", dtype, shape: [1, terms] }],
    outputs: [{ name: "y", dtype }],
    nodes: g.nodes,
    initializers: g.initializers,
  });
  const model = compile(readModel(bytes), { shapes: {}, ...(run && { run }) });
  return { model, input: () => randomFloats(prng, kind, terms) };
}

describe("products of a vector with constant weights", function () {
  this.timeout(60_000);
  const ROUNDS = 40;

  async function compare(kind: Values, options: ExecutorOptions, rounds = ROUNDS): Promise<void> {
    let planned = 0;
    for (let seed = 1; seed <= rounds; seed++) {
      const { model, input } = vectorProduct(new Prng(seed), kind);
      const inputs = [input()];
      const expected = executeReference(model, inputs);
      const executor = await createExecutor(model, { ...options, minEngineWork: 1 });
      // The second time, what the first one left in the memory must not matter.
      for (let run = 0; run < 2; run++) {
        const { tensors } = await executor.run(inputs);
        tensors.forEach((tensor, s) =>
          expect(Buffer.compare(tensor, expected[s]!), `${kind}, seed ${seed}, step ${s}`).to.equal(0),
        );
      }
      planned += planProgram(model, OPTIONS).steps.some(({ loaded }) => loaded !== undefined) ? 1 : 0;
      await executor.close();
    }
    expect(planned).to.be.above(0.4 * rounds);
  }

  for (const kind of VALUES)
    it(`of${kind.replace(" ", "")}Numbers_haveTheBitsOfTheReference`, () => compare(kind, { threads: 1 }));

  /** Several vectors at once, as in a block of items that take nothing from each other. */
  async function compareSome(kind: Values, options: ExecutorOptions, rounds = ROUNDS, more = 0): Promise<void> {
    for (let seed = 1; seed <= rounds; seed++) {
      const { model, input } = vectorProduct(new Prng(seed), kind, { each: ["x"], eachOutputs: ["y"] });
      const vectors = more + 1 + (seed % MAX_VECTORS);
      const items = Array.from({ length: vectors }, () => [input()]);
      const blocks = { lengths: [vectors], guessed: [] };
      const executor = await createExecutor(model, { ...options, minEngineWork: 1, blocks });
      const { step } = model.program.checkpoints[model.program.outputs[0]!]!;
      for (let run = 0; run < 2; run++) {
        const result = await executor.runBlock(items);
        expect(result.items.length).to.equal(vectors);
        result.items.forEach(({ tensors }, k) =>
          expect(
            Buffer.compare(tensors[step]!, executeReference(model, items[k]!)[step]!),
            `${kind}, seed ${seed}, vector ${k} of ${vectors}`,
          ).to.equal(0),
        );
      }
      await executor.close();
    }
  }

  for (const kind of VALUES)
    it(`ofSome${kind.replace(" ", "")}Vectors_haveTheBitsOfTheReference`, () => compareSome(kind, { threads: 1 }));

  for (const kind of VALUES)
    it(`ofMany${kind.replace(" ", "")}Vectors_whoseWeightsAreWidened_haveTheBitsOfTheReference`, async () => {
      // Each element is checked; weights are widened as a whole, and in pieces of a few columns.
      await compareSome(kind, { threads: 1, checksAll: true }, ROUNDS / 4, MAX_VECTORS);
      await compareSome(kind, { threads: 1, chunkElements: 50 }, ROUNDS / 4, 2 * MAX_VECTORS);
    });

  it("ofManyVectorsInPartsOfTwoThreads_haveTheBitsOfTheReference", async () => {
    const team = Team.hold(2);
    await compareSome("ordinary", { threads: 2, minSplit: 0, evenly: true, chunkElements: 50 }, 12, MAX_VECTORS);
    await team.release();
  });

  it("aFaultInAProductWithWidenedWeights_isFound", async () => {
    const { model, input } = vectorProduct(new Prng(5), "ordinary", { each: ["x"], eachOutputs: ["y"] });
    const engine = await onnxEngine();
    let isFaulty = false;
    const faulty = faultyEngine(engine, { floats: (out) => void (isFaulty && out.fill(0.5)) });
    const vectors = MAX_VECTORS + 2;
    const blocks = { lengths: [vectors], guessed: [] };
    const executor = await createExecutor(model, { engine: faulty, minEngineWork: 1, checksAll: true, blocks });
    const items = Array.from({ length: vectors }, () => [input()]);
    expect((await executor.runBlock(items)).items.length).to.equal(vectors);
    isFaulty = true;
    expect(await rejection(executor.runBlock(items))).to.be.instanceOf(EngineFaultError);
    await executor.close();
    await engine.close();
  });

  for (const [name, more] of [
    ["Some", 0],
    ["Many", MAX_VECTORS],
  ] as const)
    it(`of${name}VectorsWhereNoBoundIsTrusted_haveTheBitsOfTheReference`, () =>
      compareSome("wide", { threads: 1, alwaysExact: true }, ROUNDS / 2, more));

  it("ofSomeVectorsInPartsOfTwoThreads_haveTheBitsOfTheReference", async () => {
    const team = Team.hold(2);
    await compareSome("ordinary", { threads: 2, minSplit: 0, evenly: true }, 12);
    await team.release();
  });

  it("whereNoBoundIsTrusted_haveTheBitsOfTheReference", () => compare("wide", { threads: 1, alwaysExact: true }));

  it("inPartsOfTwoThreads_haveTheBitsOfTheReference", async () => {
    const team = Team.hold(2);
    await compare("ordinary", { threads: 2, minSplit: 0, evenly: true }, 12);
    await team.release();
  });

  it("ofPartsOfAMatrixWithUnlikeNorms_haveTheBitsOfTheReference", async () => {
    const [terms, columns] = [16, 64];
    const half = terms / 2;
    const g = new GraphBuilder();
    // Zeros, then ones: the norms of the first terms alone are no bound for all terms.
    const weights = Float32Array.from({ length: terms * columns }, (_, k) => (k < half * columns ? 0 : 1));
    const w = g.constant({ dtype, shape: [terms, columns], bytes: new Uint8Array(weights.buffer) });
    const int64 = (value: number): string =>
      g.constant({ dtype: DType.int64, shape: [1], bytes: new Uint8Array(BigInt64Array.of(BigInt(value)).buffer) });
    const part = g.node("Slice", [w, int64(0), int64(half), int64(0)]);
    for (const [x, matrix, y] of [
      ["few", part, "ofFew"],
      ["all", w, "ofAll"],
    ] as const)
      g.nodes.push({ op: "Identity", inputs: [g.node("Einsum", [x, matrix], { equation: EQUATION })], outputs: [y] });
    const bytes = buildModel({
      inputs: [
        { name: "few", dtype, shape: [1, half] },
        { name: "all", dtype, shape: [1, terms] },
      ],
      outputs: ["ofFew", "ofAll"].map((name) => ({ name, dtype })),
      nodes: g.nodes,
      initializers: g.initializers,
    });
    const model = compile(readModel(bytes), { shapes: {} });
    const all = new Float32Array(terms).fill(3);
    [all[half], all[terms - 1]] = [2 ** 100, -(2 ** 100)];
    const inputs = [new Float32Array(half).fill(1), all].map(({ buffer }) => new Uint8Array(buffer));
    const executor = await createExecutor(model, { threads: 1, minEngineWork: 1 });
    const expected = executeReference(model, inputs);
    const { tensors } = await executor.run(inputs);
    tensors.forEach((tensor, s) => expect(Buffer.compare(tensor, expected[s]!), `step ${s}`).to.equal(0));
    await executor.close();
  });

  for (const [name, columns, many] of [
    ["Some", 2_100, Array.from({ length: MAX_VECTORS }, (_, k) => k + 1)],
    // The last piece has a single column.
    ["Many", 2 ** 16 + 1, [MAX_VECTORS + 1]],
  ] as const)
    it(`of${name}VectorsAndMoreColumnsThanAreTakenAtATime_haveTheBitsOfTheReference`, async () => {
      const terms = 2;
      const g = new GraphBuilder();
      const bytes = randomFloats(new Prng(1), "ordinary", terms * columns);
      const w = g.constant({ dtype, shape: [terms, columns], bytes });
      g.nodes.push({ op: "Identity", inputs: [g.node("Einsum", ["x", w], { equation: EQUATION })], outputs: ["y"] });
      const onnx = buildModel({
        inputs: [{ name: "x", dtype, shape: [1, terms] }],
        outputs: [{ name: "y", dtype }],
        nodes: g.nodes,
        initializers: g.initializers,
      });
      const model = compile(readModel(onnx), { shapes: {}, run: { each: ["x"], eachOutputs: ["y"] } });
      const { step } = model.program.checkpoints[model.program.outputs[0]!]!;
      for (const vectors of many) {
        const items = Array.from({ length: vectors }, (_, k) => [randomFloats(new Prng(k), "ordinary", terms)]);
        const blocks = { lengths: [vectors], guessed: [] };
        const executor = await createExecutor(model, { threads: 1, minEngineWork: 1, blocks });
        const result = await executor.runBlock(items);
        expect(result.items.length).to.equal(vectors);
        result.items.forEach(({ tensors }, k) =>
          expect(
            Buffer.compare(tensors[step]!, executeReference(model, items[k]!)[step]!),
            `vector ${k} of ${vectors}`,
          ).to.equal(0),
        );
        await executor.close();
      }
    });

  it("ofMoreColumnsThanAreTakenAtATime_haveTheBitsOfTheReference", async () => {
    const g = new GraphBuilder();
    const w = g.constant({ dtype, shape: [3, 9001], bytes: randomFloats(new Prng(1), "ordinary", 3 * 9001) });
    g.nodes.push({ op: "MatMul", inputs: ["x", w], outputs: ["y"] });
    const bytes = buildModel({
      inputs: [{ name: "x", dtype, shape: [1, 3] }],
      outputs: [{ name: "y", dtype }],
      nodes: g.nodes,
      initializers: g.initializers,
    });
    const model = compile(readModel(bytes), { shapes: {} });
    const inputs = [randomFloats(new Prng(2), "ordinary", 3)];
    const executor = await createExecutor(model, { threads: 1 });
    const { tensors, stats } = await executor.run(inputs);
    expect(Buffer.compare(tensors[0]!, executeReference(model, inputs)[0]!)).to.equal(0);
    expect(stats.elements).to.equal(9001);
    await executor.close();
  });
});
