import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { compare } from "../../src/examine/compare/compare.ts";
import { erf } from "../../src/examine/compare/wideCode.ts";
import { numbersOf, wideTensor } from "../../src/examine/compare/wideRun.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType, isFloat } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { modelOf, single, type Experiment } from "../../testkit/onnx/agreement.ts";
import { CASES } from "../../testkit/operators/cases.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { RandomTensors } from "../../testkit/random/tensors.ts";

function executed(experiment: Experiment) {
  const bytes = modelOf(experiment);
  const model = compile(readModel(bytes), { shapes: {} });
  const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
  return { bytes, model, inputs, tensors: executeReference(model, inputs) };
}

describe("a chain in float64", () => {
  it("is near the exact execution, for every operator of floats", () => {
    const far: string[] = [];
    for (const [operator, [make]] of Object.entries(CASES)) {
      if (make === undefined) continue;
      const { model, inputs, tensors } = executed(make(new RandomTensors(new Prng(17))));
      const { program } = model;
      program.outputs.forEach((output) => {
        const { step } = program.checkpoints[output]!;
        const { dtype } = program.steps[step]!;
        if (!isFloat(dtype)) return;
        const [wide, own] = [wideTensor(model, inputs, tensors, step)!, numbersOf(tensors[step]!, dtype)];
        const largest = own.reduce((max, x) => (Number.isFinite(x) ? Math.max(max, Math.abs(x)) : max), 0);
        const isNear = own.every((x, i) => {
          const y = wide[i]!;
          return Object.is(x, y) || x === y || Math.abs(x - y) <= 2e-3 * Math.abs(y) + 1e-4 * largest + 1e-6;
        });
        if (!isNear) far.push(operator);
      });
    }
    expect(far).to.deep.equal([]);
  });

  it("knows the error function", () => {
    for (const [x, y] of [
      [0, 0],
      [1e-9, 1.1283791670955126e-9],
      [0.5, 0.5204998778130465],
      [-1, -0.8427007929497149],
      [2.4, 0.9993114861033549],
      [2.6, 0.9997639655834707],
      [4, 0.9999999845827421],
      [9, 1],
    ] as const)
      expect(erf(x)).to.be.closeTo(y, 4e-16 * Math.max(1, Math.abs(y)));
  });

  it("names the exact result where onnxruntime loses what sums cancel", async () => {
    const x = floatTensor(Array.from({ length: 4096 }, (_, i) => Math.sin(i) * 40));
    const nodes = [
      { op: "Add", inputs: ["x", "large"], outputs: ["shifted"] },
      { op: "ReduceSum", inputs: ["shifted"], outputs: ["sum"], attributes: { keepdims: 0 } },
      { op: "Mul", inputs: ["large", "count"], outputs: ["shift"] },
      { op: "Sub", inputs: ["sum", "shift"], outputs: ["y"] },
    ];
    const initializers = { large: floatTensor([1e8]), count: floatTensor([4096]) };
    const shifted: Experiment = { opset: 12, operands: { x }, initializers, nodes, outputs: { y: DType.float32 } };
    const { bytes, model, tensors } = executed(shifted);
    const [output] = (await compare(bytes, model, new Map([["x", x]]), tensors)).outputs;
    const { float64 } = output as { float64: { exact: number; plain: number } };
    expect(float64.plain).to.be.above(1_000 * float64.exact);
  });

  const sum = single("ReduceSum", [floatTensor([1, 2 ** -20, -1, 3])], [], { keepdims: 0 }, DType.float32, 11);

  it("names the result that is nearer where one is out of tolerance, and is not asked elsewhere", async () => {
    const { bytes, model, tensors } = executed(sum);
    const given = new Map(Object.entries(sum.operands));
    const [same] = (await compare(bytes, model, given, tensors)).outputs;
    expect(same).to.not.have.property("float64");
    const changed = tensors.map(() => floatTensor([5], []).bytes);
    const comparison = await compare(bytes, model, given, changed);
    const [output] = comparison.outputs;
    expect(output).to.have.property("float64").that.has.keys("exact", "plain");
    const { float64 } = output as { float64: { exact: number; plain: number } };
    expect(float64.exact).to.be.closeTo(2, 1e-5);
    expect(float64.plain).to.be.below(1e-6);
    expect(comparison.firstDifferent?.float64).to.deep.equal(float64);
  });
});
