import { expect } from "chai";
import { toHex } from "../../src/program/merkle/hash.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { decodeStepBody } from "../../src/program/decode.ts";
import { encodeHeader, encodeStepBody } from "../../src/program/encode.ts";
import { ProgramFormatError } from "../../src/program/errors.ts";
import { Op } from "../../src/program/operations.ts";
import { commitProgram } from "../../src/program/root.ts";
import type { Program, Step } from "../../src/program/types.ts";
import { validateProgram, validateStep } from "../../src/program/validate.ts";
import { axis, NO_REDUCTION, reluProductStep } from "../../testkit/programs/stepModel.ts";

const f32 = DType.float32;

/** out[m] = relu(sum_k x[m,k] * w[k] + 1), 3 x 2. */
const product = reluProductStep(`0x${"ab".repeat(32)}`);

const program: Program = {
  inputs: [{ dtype: f32, count: 6 }],
  steps: [product],
  checkpoints: [{ first: 0, step: 0 }],
  outputs: [0],
  maxStepGas: 500_000,
  maxStepBytes: 90_000,
};

describe("program encoding", () => {
  it("encodeStepBody_matchesTheDocumentedLayout", () => {
    const view = (input: string, ...axes: string[]) => `${input}${"00".repeat(8)}0${axes.length}${axes.join("")}`;
    const ax = (extent: string, stride: string, digit: string) =>
      `000000${extent}000000${stride}0000000000000001ff01${digit}00000001`;
    const expected = [
      "02", // inputs
      "0001000000000000000600000000",
      "01010000000000000002" + "ab".repeat(32),
      "0100000003", // out digits
      "0100000002", // reduction digits
      "0201", // dot, float32
      "02" + "01000000003f800000" + "010000000000000000", // constants
      "02" + view("00", ax("03", "02", "00"), ax("02", "01", "01")) + view("01", ax("02", "01", "01")), // term reads
      "00", // epilogue reads
      "00" + "0001", // term
      "02" + "1001000100" + "1701030200" + "04", // epilogue
    ].join("");
    expect(toHex(encodeStepBody(product))).to.equal(`0x${expected}`);
  });

  it("decodeStepBody_ofEncoding_givesTheStepBack", () => {
    expect(decodeStepBody(encodeStepBody(product), { dtype: f32, count: 3 })).to.deep.equal(product);
  });

  it("decodeStepBody_everyTruncationAndTrailingByte_throws", () => {
    const body = encodeStepBody(product);
    for (let length = 0; length < body.length; length++) {
      expect(() => decodeStepBody(body.subarray(0, length), product), `${length} bytes`).to.throw(ProgramFormatError);
    }
    expect(() => decodeStepBody(Buffer.concat([body, Buffer.of(0)]), product)).to.throw(
      ProgramFormatError,
      "follow the end",
    );
  });

  it("encodeHeader_matchesTheDocumentedLayout", () => {
    const expected = [
      "0002",
      "0007a120",
      "00015f90",
      "0000000000001732",
      "00000001",
      "00000001",
      "0001",
      "0001",
      "0100000000000000060000000000",
      "0000000001000000000000000300",
    ];
    expect(toHex(encodeHeader(program))).to.equal(`0x${expected.join("")}`);
  });

  it("programRoot_anyChange_changes", () => {
    const root = commitProgram(program).programRoot;
    const other = { ...product, constants: [{ dtype: f32, value: 0x40000000n }, product.constants[1]!] };
    expect(commitProgram({ ...program, steps: [other] }).programRoot).to.not.equal(root);
    expect(commitProgram({ ...program, maxStepGas: 500_001 }).programRoot).to.not.equal(root);
    expect(commitProgram({ ...program, maxStepBytes: 90_001 }).programRoot).to.not.equal(root);
  });
});

describe("program validation", () => {
  const refuses = (change: Partial<Step>, message: string): void => {
    expect(() => validateStep({ ...product, ...change })).to.throw(ProgramFormatError, message);
  };

  it("validateProgram_wellFormed_passes", () => {
    validateProgram(program);
  });

  it("validateStep_malformed_namesWhatIsWrong", () => {
    refuses({ count: 4 }, "digits give 3 elements, not 4");
    refuses({ redDigits: [] }, "reduction digits without a reduction");
    refuses({ term: { code: [], outA: 0, outB: 9 } }, "second result: slot 9");
    refuses({ epilogue: { code: [], out: 7 } }, "slot 7");
    refuses({ epilogue: { code: [{ op: Op.add, dtype: f32, a: 0, b: 3, c: 0 }], out: 3 } }, "slot 3");
    refuses({ epilogue: { code: [{ op: Op.exp, dtype: DType.int32, a: 0, b: 0, c: 0 }], out: 3 } }, "operation 0x50");
    refuses({ constants: [{ dtype: f32, value: 0x80000000n }, product.constants[1]!] }, "not a canonical word");
    refuses(
      { termReads: [{ input: 0, fill: 0n, axes: [axis(0, 4, 2)] }, product.termReads[1]!] },
      "reaches element 6 of 6",
    );
    refuses({ termReads: [{ input: 2, fill: 0n, axes: [] }, product.termReads[1]!] }, "names input 2");
    refuses({ epilogueReads: [{ input: 1, fill: 0n, axes: [axis(1, 2, 1)] }] }, "digit 1");
    const indirect = { input: 0, fill: 0n, axes: [{ ...axis(0, 3, 2), indirect: 1 }] };
    refuses({ termReads: [indirect, product.termReads[1]!] }, "not earlier");
  });

  it("validateProgram_listsDeeperThanBondsPayFor_throw", () => {
    const count = 2 ** 27 + 1;
    const wide: Step = {
      ...product,
      outDigits: [count],
      count,
      termReads: [product.termReads[1]!, product.termReads[1]!],
    };
    expect(() => validateProgram({ ...program, steps: [wide] })).to.throw(
      ProgramFormatError,
      "1048577 chunks, at most 1048576",
    );
  });

  it("validateProgram_readOfLaterStepOrOpenRange_throws", () => {
    const later: Step = { ...product, inputs: [{ kind: "step", index: 1, dtype: f32, count: 6 }, product.inputs[1]!] };
    expect(() => validateProgram({ ...program, steps: [later] })).to.throw(ProgramFormatError, "not earlier");
    const copy: Step = {
      ...product,
      inputs: [{ kind: "step", index: 0, dtype: f32, count: 3 }],
      ...NO_REDUCTION,
      epilogueReads: [{ input: 0, fill: 0n, axes: [axis(0, 3, 1)] }],
      epilogue: { code: [], out: 0 },
    };
    delete (copy as { reduceType?: DType }).reduceType;
    const open = { ...program, steps: [product, copy], checkpoints: [{ first: 1, step: 1 }] };
    expect(() => validateProgram(open)).to.throw(ProgramFormatError, "outside the range");
    validateProgram({ ...open, checkpoints: [{ first: 0, step: 1 }] });
  });
});
