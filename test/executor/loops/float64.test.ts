import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { planWithin } from "../../../src/executor/plan/planProgram.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { roundedSum } from "../../../src/executor/product/roundedSum.ts";
import { DType, writeWord, type Word } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { Reduce } from "../../../src/program/types.ts";
import { modelOf, single, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { hardOperands64, word64 } from "../../../testkit/numerics/elementaryCases64.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const { float64, float32, bool, int64, int8, uint32 } = DType;
const COLUMNS = 16;

function tensorOf(words: readonly Word[], columns = COLUMNS): TensorData {
  const count = words.length - (words.length % columns);
  const bytes = new Uint8Array(8 * count);
  for (let i = 0; i < count; i++) writeWord(bytes, i, float64, words[i]!);
  return { dtype: float64, shape: [count / columns, columns], bytes };
}

/** Every fifth hard operand, and ordinary numbers, in another order for another seed. */
function operand(seed: number): TensorData {
  const prng = new Prng(seed);
  const ordinary = Array.from({ length: 96 }, () =>
    word64((prng.below(2 ** 20) - 2 ** 19) * 2 ** (prng.below(30) - 30)),
  );
  const words = [...hardOperands64().filter((_, k) => k % 5 === seed % 5), ...ordinary];
  for (let i = words.length - 1; i > 0; i--) {
    const j = prng.below(i + 1);
    [words[i], words[j]] = [words[j]!, words[i]!];
  }
  return tensorOf(words.slice(0, 256));
}

const unary = (op: string, output: DType = float64, attributes = {}): Experiment =>
  single(op, [operand(1)], [], attributes, output);
const binary = (op: string, output: DType = float64, attributes = {}): Experiment =>
  single(op, [operand(2), operand(3)], [], attributes, output);

const EXPERIMENTS: readonly Experiment[] = [
  ...["Exp", "Log", "Tanh", "Sigmoid", "Erf", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh"].map((op) =>
    unary(op),
  ),
  ...["Asinh", "Acosh", "Atanh", "Abs", "Neg", "Sign", "Sqrt", "Floor", "Ceil", "Round", "Softmax"].map((op) =>
    unary(op),
  ),
  ...["Add", "Sub", "Mul", "Div", "Pow", "Min", "Max"].map((op) => binary(op)),
  binary("Mod", float64, { fmod: 1 }),
  ...["Less", "Equal", "GreaterOrEqual"].map((op) => binary(op, bool)),
  ...["IsNaN", "IsInf"].map((op) => unary(op, bool)),
  ...[float32, int64, int8, uint32, bool, DType.float16].map((to) => unary("Cast", to, { to })),
  ...["ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceMean"].map((op) => unary(op, float64, { axes: [1] })),
  ...["ArgMax", "ArgMin"].map((op) => unary(op, int64, { axis: 1 })),
  single("ReduceSum", [operand(4)], [int64Tensor([0])], {}, float64),
  single("MatMul", [tensorOf(ordinary(5)), tensorOf(ordinary(6))], [], {}, float64),
  single("Cast", [int64Tensor([0, -1, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER, -3], [5])], [], { to: float64 }, float64),
];

/** Numbers whose sums of products cancel, so that some are settled in integers. */
function ordinary(seed: number): Word[] {
  const prng = new Prng(seed);
  return Array.from({ length: COLUMNS * COLUMNS }, () => word64((prng.below(64) - 32) * 2 ** (prng.below(90) - 45)));
}

async function expectBitsOfTheDefinition(model: CompiledModel, inputs: Uint8Array[]): Promise<void> {
  const executor = await createExecutor(model);
  const { tensors } = await executor.run(inputs);
  const hex = (all: readonly Uint8Array[]): string[] => all.map((bytes) => Buffer.from(bytes).toString("hex"));
  expect(hex(tensors)).to.deep.equal(hex(executeReference(model, inputs)));
  await executor.close();
}

describe("loops of float64", () => {
  for (const experiment of EXPERIMENTS) {
    const [{ op, attributes }] = experiment.nodes as [Experiment["nodes"][number]];
    it(`${op}_${JSON.stringify(attributes)}_givesTheBitsOfTheDefinition`, async () => {
      const model = compile(readModel(modelOf(experiment)), { shapes: {} });
      const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
      await expectBitsOfTheDefinition(model, inputs);
    });
  }

  it("sumOfMoreTermsThanOneStepAdds_castToFloat64_hasTheBitsOfTheDefinition", async () => {
    const terms = 20_000;
    const bytes = buildModel({
      inputs: [{ name: "x", dtype: float32, shape: [2, terms] }],
      outputs: [{ name: "z", dtype: float64, shape: [2, 1] }],
      initializers: { axes: int64Tensor([1]) },
      nodes: [
        { op: "ReduceSum", inputs: ["x", "axes"], outputs: ["sum"] },
        { op: "Cast", inputs: ["sum"], outputs: ["z"], attributes: { to: float64 } },
      ],
    });
    const model = compile(readModel(bytes), { shapes: {} });
    expect(model.program.steps.at(-1)!.reduce).to.equal(Reduce.total);
    const prng = new Prng(5);
    const values = Float32Array.from({ length: 2 * terms }, () => (prng.below(2 ** 20) - 2 ** 19) / 1024);
    await expectBitsOfTheDefinition(model, [new Uint8Array(values.buffer)]);
  });

  it("sumsOfManyTerms_areGatheredByOneThread_ratherThanOnceForEach", () => {
    const [x, y] = [
      [512, 4096],
      [4096, 512],
    ];
    const bytes = buildModel({
      inputs: [
        { name: "x", dtype: float64, shape: x },
        { name: "y", dtype: float64, shape: y },
      ],
      outputs: [{ name: "z", dtype: float64, shape: [512, 512] }],
      initializers: {},
      nodes: [{ op: "MatMul", inputs: ["x", "y"], outputs: ["z"] }],
    });
    const model = compile(readModel(bytes), { shapes: {} });
    const planned = (threads: number): number =>
      planWithin(model, { minEngineWork: 0, chunkElements: 2 ** 18, threads, memoryBytes: 2 ** 32 - 2 ** 16 }).bytes;
    expect(planned(8) - planned(1)).to.be.below(2 ** 20);
  });

  it("sums_areRoundedOnce_whetherTheBoundSettlesThemOrNot", () => {
    const prng = new Prng(7);
    for (let run = 0; run < 300; run++) {
      const terms = 1 + prng.below(40);
      const some = (): Float64Array =>
        Float64Array.from({ length: terms }, () => (prng.below(2 ** 30) - 2 ** 29) * 2 ** (prng.below(120) - 60));
      const [a, b] = [some(), some()];
      // What cancels, and ties.
      if (run % 3 === 0) a.set([a[0]!, -a[0]!, 2 ** -70].slice(0, terms));
      for (const other of [undefined, b])
        expect(roundedSum(a, other, 0, terms, false)).to.equal(roundedSum(a, other, 0, terms, true));
    }
    const one = (...values: number[]): number =>
      roundedSum(Float64Array.from(values), undefined, 0, values.length, false);
    expect(one(1, 2 ** -53)).to.equal(1);
    expect(one(1, 2 ** -53, 2 ** -106)).to.equal(1 + 2 ** -52);
    expect(one(2 ** 1023, 2 ** 1023, -(2 ** 1023))).to.equal(2 ** 1023);
    expect(one(Infinity, -Infinity)).to.deep.equal(NaN);
    expect(Object.is(one(-0, -0), 0)).to.equal(true);
  });
});
