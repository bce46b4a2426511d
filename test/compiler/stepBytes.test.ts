import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { StepTooExpensiveError } from "../../src/compiler/errors.ts";
import { survey } from "../../src/compiler/survey.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { onnxEngine } from "../../src/executor/engine/onnxEngine.ts";
import { convert } from "../../src/numerics/arithmetic.ts";
import {
  DType,
  dtypeBytes,
  dtypeName,
  readWord,
  writeWord,
  type DType as DTypeCode,
} from "../../src/numerics/dtype.ts";
import type { Model } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { estimateStepProof } from "../../src/program/gas.ts";
import { DEFAULT_STEP_BYTES, MAX_STEP_BYTES } from "../../src/program/limits.ts";
import { buildModel, type AttributeValue } from "../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { RandomTensors } from "../../testkit/random/tensors.ts";

const F = DType.float32;

/** A model of one node over inputs of the given shapes. */
function oneNode(
  op: string,
  shapes: readonly (readonly number[])[],
  attributes: Readonly<Record<string, AttributeValue>> = {},
  dtype: DTypeCode = F,
  axis?: number,
): Model {
  const inputs = shapes.map((shape, k) => ({ name: `x${k}`, dtype, shape }));
  const names = [...inputs.map(({ name }) => name), ...(axis === undefined ? [] : ["axis"])];
  const bytes = buildModel({
    opset: 19,
    inputs,
    outputs: [{ name: "y", dtype }],
    nodes: [{ op, name: "the_node", inputs: names, outputs: ["y"], attributes }],
    ...(axis === undefined ? {} : { initializers: { axis: int64Tensor([axis], []) } }),
  });
  return readModel(bytes);
}

const pool = { kernel_shape: [250, 1] };

/** What reads so far apart that one step of it would take a transaction of more than 90,000 bytes. */
const FAR_APART: readonly (readonly [string, Model])[] = [
  ["CumSum_overAxis0Of300x256", oneNode("CumSum", [[300, 256]], {}, F, 0)],
  ["CumSum_overAxis0Of510x128", oneNode("CumSum", [[510, 128]], {}, F, 0)],
  [
    "Einsum_ofTwoDiagonals",
    oneNode(
      "Einsum",
      [
        [300, 300],
        [300, 300],
      ],
      { equation: "ii,ii->" },
    ),
  ],
  ["MaxPool_of250x1", oneNode("MaxPool", [[1, 1, 252, 300]], pool)],
  ["AveragePool_of250x1", oneNode("AveragePool", [[1, 1, 252, 300]], pool)],
  ["LpPool_of250x1", oneNode("LpPool", [[1, 1, 252, 300]], pool)],
  [
    "Conv_of250x1",
    oneNode("Conv", [
      [1, 1, 252, 300],
      [1, 1, 250, 1],
    ]),
  ],
  ["CumSum_ofInt64", oneNode("CumSum", [[300, 256]], {}, DType.int64, 0)],
  ["CumSum_ofFloat64", oneNode("CumSum", [[300, 256]], {}, DType.float64, 0)],
];

/** The down projection of a language model of 7 billion parameters, and a convolution of many channels. */
const DOWN_PROJECTION = [
  [1_024, 11_008],
  [11_008, 4_096],
];
const CONVOLUTION = [
  [1, 1_024, 32, 32],
  [512, 1_024, 3, 3],
];

/** The numbers of a float32 tensor in another float type. */
function toFloats(bytes: Uint8Array, dtype: DTypeCode): Uint8Array {
  const count = bytes.length / 4;
  const result = new Uint8Array(count * dtypeBytes(dtype));
  for (let k = 0; k < count; k++) writeWord(result, k, dtype, convert(readWord(bytes, k, F), F, dtype));
  return result;
}

describe("compile under a limit of bytes", function () {
  this.timeout(60_000);

  for (const [name, model] of FAR_APART)
    it(`${name}_fitsADeploymentsTransactions`, () => {
      const { program } = compile(model, { shapes: {} });
      expect(program.maxStepBytes).to.be.at.most(DEFAULT_STEP_BYTES);
    });

  for (const dtype of [F, DType.float16, DType.bfloat16, DType.float64])
    it(`lowerLimit_givesMoreSteps_andTheSameBitsOf${dtypeName(dtype)}`, async () => {
      const shapes = [
        [2, 4_000],
        [4_000, 3],
      ];
      const model = oneNode("MatMul", shapes, {}, dtype);
      const engine = await onnxEngine();
      const outputs: Uint8Array[] = [];
      const steps: number[] = [];
      for (const stepByteLimit of [MAX_STEP_BYTES, 40_000, 20_000]) {
        const compiled = compile(model, { shapes: {}, stepByteLimit });
        expect(compiled.program.maxStepBytes).to.be.at.most(stepByteLimit);
        const random = new RandomTensors(new Prng(2));
        const inputs = shapes.map((shape) => toFloats(random.float(shape).bytes, dtype));
        const executor = await createExecutor(compiled, { engine });
        const { tensors } = await executor.run(inputs);
        await executor.close();
        outputs.push(Buffer.from(tensors.at(-1)!));
        steps.push(compiled.program.steps.length);
      }
      await engine.close();
      expect(steps[2]).to.be.above(steps[0]!);
      for (const output of outputs) expect(Buffer.compare(output, outputs[0]!)).to.equal(0);
    });

  // The words of its sums do not fit a tensor.
  const long = oneNode("MatMul", DOWN_PROJECTION);

  it("stepThatCannotBeSplit_isRefused_withItsBytes_theLimits_andWhatToDo", () => {
    const figures = /MatMul \(node the_node\).*up to 10\d{4} bytes, the limits are 12000000 gas and 90000 bytes/;
    expect(() => compile(long, { shapes: {} }))
      .to.throw(StepTooExpensiveError, figures)
      .with.property("message")
      .that.matches(/smaller shapes.*--step-bytes/);
    const [refusal] = survey(long, { shapes: {} }).refusals;
    expect(refusal?.reason).to.match(/gas in a transaction of up to \d+ bytes/);
  });

  for (const dtype of [DType.float16, DType.bfloat16]) {
    const cases = [
      ["MatMul", DOWN_PROJECTION, {}],
      ["Conv", CONVOLUTION, { pads: [1, 1, 1, 1] }],
    ] as const;
    for (const [op, shapes, attributes] of cases) {
      it(`${op}OfLong_${dtypeName(dtype)}_isServed_andNoProofIsDearerThanOfFloat32`, () => {
        const halves = compile(oneNode(op, shapes, attributes, dtype), { shapes: {} }).program;
        expect(halves.maxStepBytes).to.be.at.most(DEFAULT_STEP_BYTES);
        const toFloat = <T extends { dtype: DTypeCode }>(part: T): T =>
          part.dtype === dtype ? { ...part, dtype: F } : part;
        for (const step of halves.steps) {
          const twin = toFloat({ ...step, inputs: step.inputs.map(toFloat), constants: step.constants.map(toFloat) });
          const [own, float] = [step, { ...twin, ...(step.reduceType === undefined ? {} : { reduceType: F }) }].map(
            estimateStepProof,
          );
          expect(own!.gas).to.be.at.most(float!.gas);
          expect(own!.bytes).to.be.at.most(float!.bytes);
        }
      });
    }
  }

  it("stepThatCannotBeSplit_isTaken_whereTheLimitIsHigher_andNoLimitIsAboveThePools", () => {
    for (const stepByteLimit of [MAX_STEP_BYTES, 1_000_000]) {
      const { program } = compile(long, { shapes: {}, stepByteLimit });
      expect(program.maxStepBytes).to.be.above(DEFAULT_STEP_BYTES).and.at.most(MAX_STEP_BYTES);
    }
  });
});
