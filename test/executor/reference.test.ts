import { expect } from "chai";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { fromNumber, toNumber } from "../../src/numerics/float32.ts";
import { ExecutionInputError } from "../../src/executor/errors.ts";
import { ProgramFormatError } from "../../src/program/errors.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Op } from "../../src/program/operations.ts";
import { programRoot } from "../../src/program/root.ts";
import type { Program, Step } from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";
import { axis, NO_REDUCTION, reluProductStep } from "../../testkit/programs/stepModel.ts";

const f32 = DType.float32;
const bytesOf = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
const numbersOf = (bytes: Uint8Array): number[] => [...new Float32Array(bytes.buffer, bytes.byteOffset)];

const weights = bytesOf([10, 2 ** -24]);

/** max(x W + 1, 0) for x of 3 x 2. */
const product = reluProductStep(tensorRoot(weights));

/** Twice the first step. */
const doubled: Step = {
  dtype: f32,
  count: 3,
  inputs: [{ kind: "step", index: 0, dtype: f32, count: 3 }],
  outDigits: [3],
  ...NO_REDUCTION,
  epilogueReads: [{ input: 0, fill: 0n, axes: [axis(0, 3, 1)] }],
  epilogue: { code: [{ op: Op.add, dtype: f32, a: 0, b: 0, c: 0 }], out: 1 },
};

const program: Program = {
  inputs: [{ dtype: f32, count: 6 }],
  steps: [product, doubled],
  checkpoints: [{ first: 0, step: 1 }],
  outputs: [0],
  maxStepGas: 500_000,
  maxStepBytes: 90_000,
};
const model: CompiledModel = {
  program,
  programRoot: programRoot(program),
  constants: new Map([[tensorRoot(weights), weights]]),
  inputs: [{ name: "x", dtype: f32, shape: [3, 2] }],
  outputs: [{ name: "y", dtype: f32, shape: [3] }],
  origins: [
    { node: "product", operator: "Gemm" },
    { node: "doubled", operator: "Add" },
  ],
};
const input = bytesOf([0.5, 1, -3, 7, Math.fround(0.1), 2 ** -24]);

describe("executeReference", () => {
  before(() => validateProgram(program));

  it("execute_twoSteps_giveExactSumsRoundedOnce", () => {
    const [first, second] = executeReference(model, [input]);
    const dots = [5 + 2 ** -24, -30 + 7 * 2 ** -24, 10 * Math.fround(0.1) + 2 ** -48].map(Math.fround);
    const expected = dots.map((dot) => Math.max(0, toNumber(fromNumber(dot + 1))));
    expect(numbersOf(first!)).to.deep.equal(expected);
    expect(numbersOf(second!)).to.deep.equal(expected.map((x) => 2 * x));
  });

  it("onStep_thatAltersATensor_isReadByLaterSteps", () => {
    const alter = (step: number, tensor: Uint8Array): void => {
      if (step === 0) tensor.set(bytesOf([42]));
    };
    const [first, second] = executeReference(model, [input], { onStep: alter });
    expect(numbersOf(first!)[0]).to.equal(42);
    expect(numbersOf(second!)[0]).to.equal(84);
  });

  it("progress_isReportedAfterEachStep", () => {
    const calls: [number, number][] = [];
    executeReference(model, [input], { progress: (done, total) => calls.push([done, total]) });
    expect(calls).to.deep.equal([
      [1, 2],
      [2, 2],
    ]);
  });

  it("inputs_ofAnotherNumberOrLength_areRefused", () => {
    expect(() => executeReference(model, [])).to.throw(ExecutionInputError, "takes 1 inputs, got 0");
    expect(() => executeReference(model, [input.subarray(4)])).to.throw(ExecutionInputError, '"x" has 20 bytes');
  });

  it("constants_thatAreMissing_areRefused", () => {
    expect(() => executeReference({ ...model, constants: new Map() }, [input])).to.throw(
      ProgramFormatError,
      "compile the model again",
    );
  });
});
