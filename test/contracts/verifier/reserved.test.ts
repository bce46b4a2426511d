import { expect } from "chai";
import { toHash } from "../../../src/program/merkle/hash.ts";
import { DType, type DType as DTypeCode } from "../../../src/numerics/dtype.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";
import { isWellFormed } from "../../../testkit/numerics/wellFormed.ts";
import { RESERVED_OPERATIONS, RESERVED_REDUCTIONS, RESERVED_TYPES } from "../../../testkit/programs/reserved.ts";
import { rowSumStep } from "../../../testkit/programs/stepModel.ts";
import { revertName } from "../../../testkit/verifier/revertName.ts";
import { deployVerifier, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";

const SUM = rowSumStep(2, 4);
const [INPUT] = SUM.inputs;

/** The places of a step at which a type stands, and what the contract answers to one that it does not know. */
const TYPE_PLACES: readonly (readonly [string, string, (dtype: DTypeCode) => Partial<Step>])[] = [
  ["anInput", "UnknownType", (dtype) => ({ inputs: [INPUT!, { ...INPUT!, dtype }] })],
  ["aConstant", "UnknownType", (dtype) => ({ constants: [{ dtype, value: 0n }] })],
  ["aReduction", "UnknownReduction", (dtype) => ({ reduceType: dtype })],
  [
    "anOperation",
    "UnknownOperation",
    (dtype) => ({ epilogue: { code: [{ op: Op.neg, dtype, a: 0, b: 0, c: 0 }], out: 1 } }),
  ],
  [
    "aCast",
    "UnknownType",
    (dtype) => ({ epilogue: { code: [{ op: Op.cast, dtype: DType.float32, a: 0, b: dtype, c: 0 }], out: 1 } }),
  ],
];

// docs/program.md reserves them: a body that names one today must not mean something else later.
describe("Reserved numbers", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  /** Both decoders refuse a step. */
  async function refused(change: Partial<Step>, error: string, what: string): Promise<void> {
    const body = encodeStepBody({ ...SUM, ...change });
    expect(isWellFormed(body), what).to.equal(false);
    expect(await revertName(verifier.read.evaluate([toHash(body), 2n ** 255n, [], []])), what).to.equal(error);
  }

  it("decode_theStepItself_isAccepted", async () => {
    const body = encodeStepBody(SUM);
    expect(isWellFormed(body)).to.equal(true);
    expect(await revertName(verifier.read.evaluate([toHash(body), 2n ** 255n, [], []]))).to.equal("ElementPastEnd");
  });

  for (const [place, error, change] of TYPE_PLACES)
    it(`decode_reservedTypesOf_${place}_reverts`, async () => {
      for (const code of RESERVED_TYPES) await refused(change(code as DTypeCode), error, String(code));
    });

  it("decode_reservedOperations_reverts", async () => {
    for (const code of RESERVED_OPERATIONS) {
      const instruction = { op: code as Op, dtype: DType.float32, a: 0, b: 0, c: 0 };
      await refused({ epilogue: { code: [instruction], out: 1 } }, "UnknownOperation", String(code));
    }
  });

  it("decode_reservedReductions_reverts", async () => {
    for (const code of RESERVED_REDUCTIONS) await refused({ reduce: code as Reduce }, "UnknownReduction", String(code));
  });
});
