import { expect } from "chai";
import { toHash } from "../../../src/program/merkle/hash.ts";
import { DType, type DType as DTypeCode } from "../../../src/numerics/dtype.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Axis, type Instruction, type Step, type View } from "../../../src/program/types.ts";
import { NO_REDUCTION } from "../../../testkit/programs/stepModel.ts";
import { revertName } from "../../../testkit/verifier/revertName.ts";
import { deployVerifier, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { isWellFormed } from "../../../testkit/numerics/wellFormed.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";

const input = (dtype: DTypeCode, count = 16) => ({ kind: "input" as const, index: 0, dtype, count });
const axis = (change: Partial<Axis> = {}): Axis => ({ extent: 4, stride: 1, base: 0, div: 1, coeffs: [], ...change });
const read = (n: number, change: Partial<Axis> = {}): View => ({ input: n, fill: 0n, axes: [axis(change)] });
const instruction = (change: Partial<Instruction>): Instruction => ({
  op: Op.neg,
  dtype: DType.float32,
  a: 0,
  b: 0,
  c: 0,
  ...change,
});

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** Well-formed: reads, no reduction. */
const MAP: Step = {
  dtype: DType.float32,
  count: 4,
  inputs: [input(DType.float32), input(DType.int32), input(DType.bool), input(DType.limb)],
  outDigits: [4],
  ...NO_REDUCTION,
  epilogueReads: [read(0), read(1), read(2)],
  epilogue: { code: [], out: 0 },
};
/** Well-formed: the sum of four elements. */
const SUM: Step = {
  ...MAP,
  redDigits: [4],
  reduce: Reduce.sum,
  reduceType: DType.float32,
  termReads: [read(0)],
  epilogueReads: [],
};
const code = (change: Partial<Instruction>): Partial<Step> => ({
  epilogue: { code: [instruction(change)], out: 3 },
});
const reads = (...epilogueReads: View[]): Partial<Step> => ({ epilogueReads, epilogue: { code: [], out: 0 } });
const constant = (dtype: DTypeCode, value: bigint): Partial<Step> => ({ constants: [{ dtype, value }] });

const partial = (change: Partial<Step>): Partial<Step> => ({ reduce: Reduce.partialSum, ...change });
const total = (change: Partial<Step>): Partial<Step> => ({
  reduce: Reduce.total,
  reduceType: DType.float32,
  termReads: [read(3)],
  ...change,
});

const FLOAT64 = { reduceType: DType.float64, dtype: DType.float64 };
const partialTotal = (outDigits: number[], redDigits: number[]): Partial<Step> => ({
  ...total({ reduce: Reduce.partialTotal, reduceType: DType.limb, dtype: DType.limb, outDigits, redDigits }),
  count: outDigits[0]!,
});

const product = (outB: number, change: Partial<Step> = {}): Partial<Step> => ({
  reduce: Reduce.dot,
  termReads: [read(0), read(1)],
  term: { code: [], outA: 0, outB },
  ...change,
});
const negated = { epilogue: { code: [instruction({})], out: 1 } };

const BAD_SUMS: [string, Partial<Step>, string][] = [
  ["a sum of bools", { reduceType: DType.bool, termReads: [read(2)] }, "UnknownReduction"],
  ["a sum of limbs", { reduceType: DType.limb, termReads: [read(3)] }, "UnknownReduction"],
  ["a total of floats", { reduce: Reduce.total }, "SlotType"],
  ["a total to a limb", total({ reduceType: DType.limb }), "UnknownReduction"],
  ["a total to an integer", total({ reduceType: DType.int32 }), "UnknownReduction"],
  ["a partial sum of limbs", partial({ reduceType: DType.limb, termReads: [read(3)] }), "UnknownReduction"],
  ["a partial total to a float", total({ reduce: Reduce.partialTotal }), "UnknownReduction"],
  ["a partial sum of integers", partial({ reduceType: DType.int32, termReads: [read(1)] }), "UnknownReduction"],
  ["an unknown reduction", { reduce: 14 as Reduce }, "UnknownReduction"],
  ["an unknown reduction of limbs", total({ reduce: 14 as Reduce }), "UnknownReduction"],
  ["a second factor of another type", product(1), "SlotType"],
  ["a second factor that is no slot", product(2), "SlotType"],
  [
    "a value of another type than the last one's",
    product(1, { reduce: Reduce.last, termReads: [read(2), read(1)] }),
    "SlotType",
  ],
  ["a word of a partial sum taken for a float", partial({ outDigits: [4], ...negated }), "SlotType"],
  ["an unknown accumulator", { reduceType: 8 as DTypeCode }, "UnknownReduction"],
  ["a reduction without digits", { redDigits: [] }, "TermWithoutReduction"],
  ["a partial sum whose last digit has 3 values", partial({ outDigits: [4, 3] }), "NoLimbDigit"],
  ["a total over 6 words", total({ redDigits: [6] }), "NoLimbDigit"],
  ["a total to float64 over 4 words", total({ ...FLOAT64, redDigits: [4] }), "NoLimbDigit"],
  ["a total to float16 over 18 words", total({ reduceType: DType.float16, redDigits: [18] }), "NoLimbDigit"],
  ["a partial sum of float64 in 4 words", partial({ reduceType: DType.float64 }), "NoLimbDigit"],
  ["a partial total of 5 words", partialTotal([5], [5]), "NoLimbDigit"],
  ["a partial total of 4 words over 18", partialTotal([4], [18]), "NoLimbDigit"],
  ["a partial total of 18 words over 20", partialTotal([18], [20]), "NoLimbDigit"],
  ["a term that is no slot", { term: { code: [], outA: 1, outB: 0 } }, "SlotType"],
  ["a term of another type", { termReads: [read(1)] }, "SlotType"],
  ["a second result of a sum", { term: { code: [], outA: 0, outB: 1 } }, "UnusedOperand"],
  [
    "an operand that the terms have and the epilogue has not yet",
    { termReads: [read(0), read(0)], epilogue: { code: [instruction({ a: 1 })], out: 1 } },
    "SlotType",
  ],
];

const digit = instruction({ op: Op.digit, dtype: DType.int64 });
const BAD_MAPS: [string, Partial<Step>, string][] = [
  ["digits without a reduction", { redDigits: [4] }, "TermWithoutReduction"],
  ["reads of terms without a reduction", { termReads: [read(0)] }, "TermWithoutReduction"],
  [
    "reads and code of terms without a reduction",
    { termReads: [read(0)], term: { code: [digit], outA: 0, outB: 0 } },
    "TermWithoutReduction",
  ],
  ["code of terms without a reduction", { term: { code: [digit], outA: 0, outB: 0 } }, "TermWithoutReduction"],
  ["a result of terms without a reduction", { term: { code: [], outA: 1, outB: 0 } }, "TermWithoutReduction"],
  [
    "reads and a second result without a reduction",
    { termReads: [read(0)], term: { code: [], outA: 0, outB: 1 } },
    "TermWithoutReduction",
  ],
  ["code and a result without a reduction", { term: { code: [digit], outA: 1, outB: 0 } }, "TermWithoutReduction"],
  ["a second result without a reduction", { term: { code: [], outA: 0, outB: 1 } }, "TermWithoutReduction"],
  ["an accumulator without a reduction", { reduceType: DType.float32 }, "UnknownReduction"],
  ["a digit as another type than int64", code({ op: Op.digit, dtype: DType.int32 }), "UnknownOperation"],
  ["a digit that is not there", code({ op: Op.digit, dtype: DType.int64, a: 1 }), "UnknownDigit"],
  ["an operation on another type", code({ op: Op.and }), "UnknownOperation"],
  ["an unknown operation", code({ op: 0x7f as Op }), "UnknownOperation"],
  ["a cast to no type", code({ op: Op.cast, b: 8 }), "UnknownType"],
  ["a cast to a limb", code({ op: Op.cast, b: DType.limb }), "UnknownType"],
  ["a second operand of a negation", code({ b: 1 }), "UnusedOperand"],
  ["a third operand of an addition", code({ op: Op.add, c: 1 }), "UnusedOperand"],
  ["an operand that is no slot yet", code({ a: 3 }), "SlotType"],
  ["an operand of another type", code({ a: 1 }), "SlotType"],
  ["a second operand of another type", code({ op: Op.add, b: 1 }), "SlotType"],
  ["a choice by a number", code({ op: Op.select, a: 0, b: 0, c: 0 }), "SlotType"],
  ["a choice between two types", code({ op: Op.select, a: 2, b: 0, c: 1 }), "SlotType"],
  ["a result that is no slot", { epilogue: { code: [], out: 3 } }, "SlotType"],
  ["an index that is a float", reads(read(0), read(0, { indirect: 0 })), "BadIndexRead"],
  ["an index that is this read", reads(read(1), read(0, { indirect: 1 })), "BadIndexRead"],
  ["an integer index that is this read", reads(read(1, { indirect: 0 })), "BadIndexRead"],
  ["an index found by an index", reads(read(1), read(1, { indirect: 0 }), read(0, { indirect: 1 })), "BadIndexRead"],
  ["an axis without elements", reads(read(0, { extent: 0 })), "AxisLimits"],
  ["a division by 0", reads(read(0, { div: 0 })), "AxisLimits"],
  ["a read of one element too many", reads(read(0, { extent: 17 })), "ViewPastEnd"],
  ["a read that its stride leads past the end", reads(read(0, { stride: 6 })), "ViewPastEnd"],
  ["a coefficient of no digit", reads(read(0, { coeffs: [{ digit: 1, coeff: 1 }] })), "UnknownDigit"],
  ["two coefficients of one digit", reads(read(0, { coeffs: many(2, { digit: 0, coeff: 1 }) })), "UnknownDigit"],
  [
    "coefficients of falling digits",
    { outDigits: [2, 2], ...reads(read(0, { coeffs: [1, 0].map((at) => ({ digit: at, coeff: 1 })) })) },
    "UnknownDigit",
  ],
  ["an output without digits", { outDigits: [] }, "NoDigits"],
  ["a digit without values", { outDigits: [4, 0] }, "ZeroRadix"],
  ["2^32 elements", { outDigits: [2 ** 16, 2 ** 16] }, "ElementCount"],
  ["a negative float32 word", constant(DType.float32, -1n), "NotCanonical"],
  ["a NaN with a payload", constant(DType.float32, 0x7f800001n), "NotCanonical"],
  ["a negative byte", constant(DType.uint8, -1n), "NotCanonical"],
  ["a byte of 9 bits", constant(DType.uint8, 256n), "NotCanonical"],
  ["a signed byte of 128", constant(DType.int8, 128n), "NotCanonical"],
  ["a truth of 2", constant(DType.bool, 2n), "NotCanonical"],
  ["a float32 of 33 bits", constant(DType.float32, 0x13f800000n), "NotCanonical"],
  ["a float16 of 17 bits", constant(DType.float16, 0x13c00n), "NotCanonical"],
  ["a bfloat16 of 17 bits", constant(DType.bfloat16, 0x13f80n), "NotCanonical"],
  ["a negative limb", constant(DType.limb, -1n), "NotCanonical"],
  ["a float16's -0", constant(DType.float16, 0x8000n), "NotCanonical"],
  ["a float64's -0", constant(DType.float64, 1n << 63n), "NotCanonical"],
];

/** As many of everything as there may be, and `more`. */
const LISTS: [string, (more: number) => Step][] = [
  ["inputs", (more) => ({ ...MAP, inputs: many(16 + more, input(DType.float32)), ...reads(read(0)) })],
  ["out digits", (more) => ({ ...MAP, outDigits: many(12 + more, 1) })],
  ["reduction digits", (more) => ({ ...SUM, redDigits: many(12 + more, 1) })],
  ["constants", (more) => ({ ...MAP, constants: many(64 + more, { dtype: DType.int8, value: -5n }) })],
  ["reads", (more) => ({ ...MAP, ...reads(...many(16 + more, read(0))) })],
  ["axes", (more) => ({ ...MAP, ...reads({ ...read(0), axes: many(8 + more, axis({ extent: 1 })) }) })],
  ["instructions", (more) => ({ ...MAP, epilogue: { code: many(64 + more, instruction({})), out: 3 } })],
];

/** What is next to what is refused, and allowed. */
const GOOD: [string, Step][] = [
  ["the sum", SUM],
  ["the map", MAP],
  ["a digit", { ...MAP, ...code({ op: Op.digit, dtype: DType.int64 }) }],
  ["a read of all elements", { ...MAP, ...reads(read(0, { extent: 16 })) }],
  ["2^32 - 1 elements", { ...MAP, outDigits: [2 ** 16 - 1, 2 ** 16 + 1] }],
  ["infinity", { ...MAP, ...constant(DType.float32, 0x7f800000n) }],
  ["the only NaN", { ...MAP, ...constant(DType.float32, 0x7fc00000n) }],
  ["a negative float64", { ...MAP, ...constant(DType.float64, 0xbff0000000000000n) }],
  ["the largest byte", { ...MAP, ...constant(DType.uint8, 255n) }],
  ["the least signed byte", { ...MAP, ...constant(DType.int8, -128n) }],
  ["a total over 8 words", { ...SUM, ...total({ redDigits: [8] }) }],
  ["a total to float64 over 36 words", { ...SUM, ...total({ ...FLOAT64, redDigits: [36] }) }],
  ["a partial total of 4 words", { ...SUM, ...partialTotal([4], [8]) }],
  ["a partial total of 18 words", { ...SUM, ...partialTotal([18], [36]) }],
];

describe("What the decoder refuses", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  // Past every element: a body that is accepted is stopped there.
  const outcome = (body: Uint8Array) => revertName(verifier.read.evaluate([toHash(body), 2n ** 255n, [], []]));

  const bad = [
    ...BAD_SUMS.map(([name, change, error]) => [name, { ...SUM, ...change }, error] as const),
    ...BAD_MAPS.map(([name, change, error]) => [name, { ...MAP, ...change }, error] as const),
  ];
  for (const [name, step, error] of bad) {
    itInTime(`decode_${name.replaceAll(" ", "_")}_reverts`, async () => {
      const body = encodeStepBody(step);
      expect(isWellFormed(body)).to.equal(false);
      expect(await outcome(body)).to.equal(error);
    });
  }

  itInTime("decode_aReadOfNoInput_reverts", async () => {
    const body = Buffer.from(encodeStepBody({ ...MAP, ...reads(read(0)) }));
    // After four inputs, a digit, no reduction, no constants, no terms, and the number of reads.
    const at = 1 + 4 * 14 + 5 + 1 + 2 + 1 + 1 + 1;
    expect(body.subarray(at - 1, at + 1)).to.deep.equal(Buffer.from([1, 0]));
    body[at] = 3;
    expect(await outcome(body)).to.equal("ElementPastEnd");
    body[at] = 4;
    expect(isWellFormed(body)).to.equal(false);
    expect(await outcome(body)).to.equal("UnknownInput");
  });

  for (const [name, step] of LISTS) {
    itInTime(`decode_asMany_${name.replaceAll(" ", "_")}_asThereMayBe_isAccepted_oneMoreReverts`, async () => {
      expect(await outcome(encodeStepBody(step(0)))).to.equal("ElementPastEnd");
      expect(await outcome(encodeStepBody(step(1)))).to.equal("TooMany");
    });
  }

  it("decode_anyOperationOnAnyType_isAcceptedIfTheDefinitionAccepts", async () => {
    for (const op of Object.values(Op))
      for (const dtype of Object.values(DType).filter((type) => AT_LENGTH || (type + op) % 6 === 0)) {
        const a = op === Op.digit ? 0 : op === Op.select ? 2 : 3;
        for (const { b, c } of [
          { b: 0, c: 0 },
          { b: 3, c: 0 },
          { b: 3, c: 3 },
          { b: DType.bool, c: 0 },
        ]) {
          const code = [instruction({ op, dtype, a, b, c })];
          const own = { ...MAP, inputs: [...MAP.inputs, input(dtype)], epilogueReads: [...MAP.epilogueReads, read(4)] };
          const body = encodeStepBody({ ...own, epilogue: { code, out: 4 } });
          const accepted = (await outcome(body)) === "ElementPastEnd";
          expect(accepted, `${op} on ${dtype} of ${b}, ${c}`).to.equal(isWellFormed(body));
        }
      }
  });

  itInTime("decode_anyUnknownType_reverts", async () => {
    const known: readonly number[] = Object.values(DType);
    for (let code = 0; code < 256; code++) {
      if (known.includes(code)) continue;
      const dtype = code as DTypeCode;
      const asInput = encodeStepBody({ ...MAP, inputs: [...MAP.inputs, input(dtype)] });
      const asConstant = encodeStepBody({ ...MAP, ...constant(dtype, 0n) });
      for (const body of [asInput, asConstant]) expect(await outcome(body), `${code}`).to.equal("UnknownType");
    }
  });

  itInTime("decode_anyUnknownOperation_reverts", async () => {
    const known: readonly number[] = Object.values(Op);
    for (let op = 0; op < 256; op++) {
      if (known.includes(op)) continue;
      expect(await outcome(encodeStepBody({ ...MAP, ...code({ op: op as Op }) })), `${op}`).to.equal(
        "UnknownOperation",
      );
    }
  });

  for (const [name, step] of GOOD) {
    itInTime(`decode_${name.replaceAll(" ", "_")}_isAccepted`, async () => {
      const body = encodeStepBody(step);
      expect(isWellFormed(body)).to.equal(true);
      expect(await outcome(body)).to.equal("ElementPastEnd");
    });
  }
});
