import { expect } from "chai";
import { ExecutionInputError } from "../../src/executor/errors.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { Op } from "../../src/program/operations.ts";
import { Reduce, type Step } from "../../src/program/types.ts";
import { matMulStep, stepModel } from "../../testkit/programs/stepModel.ts";

const dtype = DType.float32;
const [ROWS, INNER, COLUMNS] = [6, 40, 5];
const bytes = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
const waves = (length: number, pace: number): Uint8Array =>
  bytes(Array.from({ length }, (_, i) => Math.round(1000 * Math.sin(i * pace)) / 1000));
const inputs = [waves(ROWS * INNER, 0.7), waves(COLUMNS * INNER, 1.3)];

/** 1 / product, element by element. */
const inverse: Step = {
  dtype,
  count: ROWS * COLUMNS,
  inputs: [{ kind: "step", index: 0, dtype, count: ROWS * COLUMNS }],
  outDigits: [ROWS * COLUMNS],
  redDigits: [],
  reduce: Reduce.none,
  constants: [{ dtype, value: 0x3f800000n }],
  termReads: [],
  epilogueReads: [
    {
      input: 0,
      fill: 0n,
      axes: [{ extent: ROWS * COLUMNS, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }],
    },
  ],
  term: { code: [], outA: 0, outB: 0 },
  epilogue: { code: [{ op: Op.div, dtype, a: 1, b: 0, c: 0 }], out: 2 },
};
const model = stepModel([matMulStep(ROWS, INNER, COLUMNS), inverse]);

describe("createExecutor", () => {
  it("onStep_thatAltersATensor_isReadByLaterStepsAsTheReferenceReadsIt", async () => {
    // -0 and a NaN with a payload: later steps read +0 and the one NaN.
    const onStep = (step: number, tensor: Uint8Array): void => {
      if (step === 0) tensor.set(Uint8Array.of(0, 0, 0, 0x80, 1, 0, 0xa0, 0xff));
    };
    const expected = executeReference(model, inputs, { onStep });
    const executor = await createExecutor(model);
    const { tensors } = await executor.run(inputs, { onStep });
    expect(tensors.map((tensor) => Buffer.from(tensor))).to.deep.equal(expected.map((tensor) => Buffer.from(tensor)));
    expect([...new Float32Array(tensors[1]!.slice(0, 8).buffer)]).to.deep.equal([Infinity, NaN]);
    await executor.close();
  });

  it("runsAtTheSameTime_doNotDisturbEachOther", async () => {
    const executor = await createExecutor(model, { threads: 2, minEngineWork: 0 });
    const other = [inputs[0]!, waves(COLUMNS * INNER, 2.1)];
    const runs = await Promise.all([executor.run(inputs), executor.run(other), executor.run(inputs)]);
    for (const [run, job] of [inputs, other, inputs].entries()) {
      const expected = executeReference(model, job);
      expected.forEach((tensor, step) =>
        expect(Buffer.compare(tensor, runs[run]!.tensors[step]!), `run ${run}, step ${step}`).to.equal(0),
      );
    }
    await executor.close();
  });

  it("inputsThatAreNotAligned_areReadAsTheyAre", async () => {
    const shifted = inputs.map((input) => {
      const copy = new Uint8Array(input.length + 1);
      copy.set(input, 1);
      return copy.subarray(1);
    });
    const executor = await createExecutor(model);
    const { tensors } = await executor.run(shifted);
    expect(Buffer.compare(tensors[1]!, executeReference(model, inputs)[1]!)).to.equal(0);
    await executor.close();
  });

  it("inputs_ofAnotherLength_areRefused", async () => {
    const executor = await createExecutor(model);
    let refused: unknown;
    await executor.run([inputs[0]!, inputs[1]!.subarray(4)]).catch((error: unknown) => (refused = error));
    expect(refused).to.be.instanceOf(ExecutionInputError);
    await executor.close();
  });

  it("constant_heldWithoutItsLastZeros_isFilledUp", async () => {
    const [one, root] = [bytes([1]), `0x${"11".repeat(32)}` as const];
    const sum: Step = {
      ...inverse,
      count: 2,
      inputs: [{ kind: "constant", root, dtype, count: 2 }],
      outDigits: [2],
      epilogueReads: [
        { input: 0, fill: 0n, axes: [{ extent: 2, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }] },
      ],
    };
    // [1] and [1, 0] fill one chunk alike: the model holds one of them.
    const holding = { ...stepModel([sum]), constants: new Map([[root, one]]) };
    const executor = await createExecutor(holding);
    for (const [tensor] of [executeReference(holding, []), (await executor.run([])).tensors])
      expect([...new Float32Array(tensor!.buffer)]).to.deep.equal([1, Infinity]);
    await executor.close();
  });
});
