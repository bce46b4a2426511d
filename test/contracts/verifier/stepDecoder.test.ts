import { expect } from "chai";
import { toHash } from "../../../src/program/merkle/hash.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { randomStep } from "../../../testkit/programs/randomStep.ts";
import { deployVerifier, type DeployedVerifier } from "../../../testkit/verifier/stepProof.ts";
import { revertName } from "../../../testkit/verifier/revertName.ts";
import { isWellFormed } from "../../../testkit/numerics/wellFormed.ts";

/** The decoder's errors: a body that is refused is refused by one of these. */
const REFUSALS = [
  "BodyLength",
  "TooMany",
  "UnknownKind",
  "UnknownType",
  "ElementCount",
  "NoDigits",
  "ZeroRadix",
  "UnknownReduction",
  "TermWithoutReduction",
  "NoLimbDigit",
  "NotCanonical",
  "UnknownInput",
  "AxisLimits",
  "UnknownDigit",
  "BadIndexRead",
  "ViewPastEnd",
  "UnknownOperation",
  "SlotType",
  "UnusedOperand",
];

function mutate(prng: Prng, body: Uint8Array): Uint8Array {
  const position = prng.below(body.length);
  switch (prng.below(6)) {
    case 0:
      return body.subarray(0, position);
    case 1:
      return Uint8Array.from([...body, prng.below(256)]);
    case 2:
      return Uint8Array.from([...body.subarray(0, position), ...body.subarray(position + 1)]);
    case 3:
      return Uint8Array.from([...body.subarray(0, position), prng.below(256), ...body.subarray(position)]);
    default: {
      const mutated = Uint8Array.from(body);
      const near = [0, 1, 255, mutated[position]! + 1, mutated[position]! - 1, mutated[position]! ^ 128];
      mutated[position] = prng.below(2) === 0 ? prng.below(256) : prng.pick(near);
      return mutated;
    }
  }
}

describe("StepDecoder", () => {
  let verifier: DeployedVerifier;
  before(async () => void (verifier = await deployVerifier()));

  // No roots and no openings: a body that is accepted gets past the decoder and is stopped there, or has no inputs.
  const refusal = async (body: Uint8Array): Promise<string | undefined> =>
    revertName(verifier.read.evaluate([toHash(body), 2n ** 255n, [], []]));

  it("decode_mutatedBodies_refusedIfAndOnlyIfTheDefinitionRefuses", async function () {
    this.timeout(200_000);
    const prng = new Prng(99);
    const seen = new Map<string, number>();
    for (let n = 0; n < Number(process.env.REFUTE_STEPS ?? (AT_LENGTH ? 2600 : 1300)); n++) {
      let body = encodeStepBody(randomStep(prng).step);
      for (let times = 1 + prng.below(2); times > 0; times--) body = mutate(prng, body);
      const name = await refusal(body);
      const expected = isWellFormed(body);
      const outcome = expected ? name === "ElementPastEnd" : REFUSALS.includes(name ?? "");
      expect(outcome, `${n}: ${name}, well-formed: ${expected}: ${toHash(body)}`).to.equal(true);
      seen.set(name!, (seen.get(name!) ?? 0) + 1);
    }
    expect([...seen.keys()], JSON.stringify([...seen])).to.include.members(REFUSALS);
  });

  itInTime("decode_randomBytes_reverts", async () => {
    const prng = new Prng(4);
    for (let n = 0; n < 200; n++) {
      const body = Uint8Array.from({ length: prng.below(300) }, () =>
        prng.below(2) === 0 ? prng.below(4) : prng.below(256),
      );
      if (!isWellFormed(body)) expect(REFUSALS).to.include(await refusal(body));
    }
  });
});
