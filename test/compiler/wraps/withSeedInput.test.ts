import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { SeedInputError } from "../../../src/compiler/errors.ts";
import { withSeedInput } from "../../../src/compiler/wraps/withSeedInput.ts";
import type { RunWiring } from "../../../src/compiler/runWiring.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { Model } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { prepareModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { buildModel, type AttributeValue } from "../../../testkit/onnx/onnxBuilder.ts";

const SIZE = 50;
const X = floatTensor(Array.from({ length: SIZE }, (_, k) => (k % 7) / 8));

type Case = { op: string; attributes?: Record<string, AttributeValue>; inputs?: string[]; dtype?: DType };

/** Two nodes of an operator, so that the second draws other numbers than the first. */
function modelOf({ op, attributes = {}, inputs = [], dtype = DType.float32 }: Case): Model {
  return readModel(
    buildModel({
      inputs: [{ name: "x", dtype: DType.float32, shape: [SIZE] }],
      outputs: ["y", "z"].map((name) => ({ name, dtype })),
      nodes: ["y", "z"].map((name) => ({ op, inputs, outputs: [name], attributes })),
      initializers: {
        ratio: floatTensor([0.5], []),
        training: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) },
        logits: floatTensor([0.5, -1, 2, 0.25, 0, 1], [2, 3]),
      },
    }),
  );
}

const CASES: readonly Case[] = [
  { op: "RandomUniform", attributes: { shape: [3, 5], low: { float: -2 }, high: { float: 3 } } },
  { op: "RandomUniformLike", inputs: ["x"], attributes: { seed: { float: 2.5 } } },
  { op: "RandomNormal", attributes: { shape: [7], mean: { float: 1 }, scale: { float: 0.5 } } },
  { op: "RandomNormalLike", inputs: ["x"] },
  { op: "Bernoulli", inputs: ["x"] },
  { op: "Multinomial", inputs: ["logits"], attributes: { sample_size: 9 }, dtype: DType.int32 },
  { op: "Dropout", inputs: ["x", "ratio", "training"], attributes: { seed: 5 } },
];

/** The outputs, in hexadecimal digits, of a model whose seed is an input. */
function drawnWith(model: Model, seed: bigint, run?: RunWiring, index?: number): { root: string; outputs: string[] } {
  const seeded = withSeedInput(model, run);
  const compiled = compile(seeded.model, { shapes: {}, run: seeded.run });
  const given = new Map([
    ["random_seed", int64Tensor([BigInt.asIntN(64, seed)]).bytes],
    ["random_index", int64Tensor([index ?? 0]).bytes],
    ["i", int64Tensor([index ?? 0]).bytes],
    ["x", X.bytes],
  ]);
  return { root: compiled.programRoot, outputs: outputsOf(compiled, (name) => given.get(name)!) };
}

function outputsOf(compiled: ReturnType<typeof compile>, bytes: (name: string) => Uint8Array): string[] {
  const { program } = compiled;
  const tensors = executeReference(
    compiled,
    compiled.inputs.map(({ name }) => bytes(name)),
  );
  return program.outputs.map((output) => Buffer.from(tensors[program.checkpoints[output]!.step]!).toString("hex"));
}

describe("seeds as inputs of a job", () => {
  const SEED = 0xfedc_ba98_7654_3210n;

  for (const one of CASES)
    it(`${one.op} draws what the same seed draws that is given to the compiler, and another seed others`, () => {
      const model = modelOf(one);
      const known = compile(model, { shapes: {}, seed: SEED });
      const first = drawnWith(model, SEED);
      expect(first.outputs).to.deep.equal(outputsOf(known, () => X.bytes));
      const other = drawnWith(model, SEED + (1n << 40n));
      expect(other.root).to.equal(first.root);
      expect(other.outputs[0]).to.not.equal(first.outputs[0]);
      const hasOwnSeed = one.attributes?.["seed"] !== undefined;
      if (!hasOwnSeed) expect(first.outputs[0]).to.not.equal(first.outputs[1]);
    });

  it("of another item are other numbers, and of the first one those of a job without items", () => {
    const model = modelOf({ op: "RandomNormalLike", inputs: ["x"] });
    const run: RunWiring = { each: ["x"] };
    const [alone, first, second] = [drawnWith(model, 7n), drawnWith(model, 7n, run, 0), drawnWith(model, 7n, run, 1)];
    expect(first.outputs).to.deep.equal(alone.outputs);
    expect(second.root).to.equal(first.root);
    expect(second.outputs[0]).to.not.equal(first.outputs[0]);
  });

  it("in a batch are each item's own, and use the number that items have already", () => {
    const model = modelOf({ op: "RandomNormalLike", inputs: ["x"] });
    expect(withSeedInput(model, { batch: true }).run).to.deep.equal({ batch: true });
    expect(withSeedInput(model, { each: ["x"] }).run).to.deep.equal({ each: ["x"], index: ["random_index"] });
    const numbered = { ...model, graph: { ...model.graph, inputs: [...model.graph.inputs, int64("i")] } };
    const { model: seeded, run } = withSeedInput(numbered, { index: ["i"] });
    expect(run).to.deep.equal({ index: ["i"] });
    expect(seeded.graph.inputs.map(({ name }) => name)).to.deep.equal(["random_seed", "x", "i"]);
    expect(drawnWith(numbered, 7n, { index: ["i"] }, 3).outputs).to.deep.equal(
      drawnWith(model, 7n, { each: ["x"] }, 3).outputs,
    );
  });

  it("give each update of a training run a Dropout of its own", () => {
    const file = readModel(
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape: [1, SIZE] }],
        outputs: [{ name: "y", dtype: DType.float32 }],
        nodes: [
          { op: "Dropout", inputs: ["x", "ratio", "training"], outputs: ["d"] },
          { op: "MatMul", inputs: ["d", "w"], outputs: ["y"] },
        ],
        initializers: {
          ratio: floatTensor([0.5], []),
          training: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) },
          w: floatTensor(new Array<number>(SIZE).fill(0.5), [SIZE, 1]),
        },
      }),
    );
    const train = { loss: "mse", optimiser: "sgd" } as const;
    const { model, run } = prepareModel(file, { bind: {}, uint8: [], train, seedInput: true });
    const compiled = compile(model, { shapes: {}, run });
    const given = (seed: number, item: number): Map<string, Uint8Array> =>
      new Map([
        ["random_seed", int64Tensor([seed]).bytes],
        ["index", int64Tensor([item]).bytes],
        ["x", X.bytes],
        ["labels", floatTensor([1]).bytes],
        ["rates", floatTensor([0.1]).bytes],
        ["weights", floatTensor(new Array<number>(SIZE).fill(0.5)).bytes],
      ]);
    const update = (seed: number, item: number): string =>
      outputsOf(compiled, (name) => given(seed, item).get(name)!).join();
    const [first, again, later, other] = [update(7, 0), update(7, 0), update(7, 1), update(8, 0)];
    expect(again).to.equal(first);
    expect(new Set([first, later, other]).size).to.equal(3);
    const seeded = prepareModel(file, { bind: {}, uint8: [], train });
    const known = compile(seeded.model, { shapes: {}, run: seeded.run, seed: 7n });
    expect(outputsOf(known, (name) => given(7, 0).get(name)!).join()).to.equal(first);
  });

  const int64 = (name: string) => ({ name, dtype: DType.int64, shape: [1] });

  it("are refused by name where nothing draws, where there are two, and where a name is taken", () => {
    const model = modelOf({ op: "RandomNormalLike", inputs: ["x"] });
    const refused = (act: () => unknown, why: string): void => {
      expect(act).to.throw(SeedInputError, why);
    };
    const seeded = withSeedInput(model, undefined).model;
    refused(() => compile(seeded, { shapes: {}, seed: 1n }), "give the compiler none (--seed)");
    refused(() => drawnWith(modelOf({ op: "Relu", inputs: ["x"] }), 1n), "no node of it draws random numbers");
    refused(() => withSeedInput(seeded, undefined), 'a value "random_seed" of its own');
  });
});
