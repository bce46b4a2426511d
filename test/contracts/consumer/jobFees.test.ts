import { expect } from "chai";
import fc from "fast-check";
import { network } from "hardhat";
import { zeroAddress, zeroHash } from "viem";
import { coveringFee, jobGas, termsGas, type JobShape } from "../../../src/dispute/jobCost.ts";

const SOME = "0x00000000000000000000000000000000000000c1";
const PLAIN = {
  ...{ collateral: 0n, spread: 0, earlyAccept: false, since: 0, maxRefuted: 0, maxLate: 0, class: 0 },
  ...{ reservedFor: zeroAddress, group: zeroHash, manufacturer: zeroHash, keyHash: zeroHash },
};
/** What of terms costs gas: seals and classes. */
const costly = fc.record({ openFrom: fc.constantFrom(0, 1_900_000_000), classes: fc.constantFrom(zeroAddress, SOME) });

const shapes: fc.Arbitrary<JobShape> = fc.record({
  headerBytes: fc.integer({ min: 30, max: 2_048 }),
  checkpoints: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5_000 })),
  items: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 65_536 })),
  answers: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 16 })),
  delivered: fc.array(fc.integer({ min: 1, max: 65_536 }), { maxLength: 5 }),
  callbackGas: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2_000_000 })),
  arityBits: fc.integer({ min: 1, max: 6 }),
});

describe("JobFees", () => {
  it("gasAndFee_ofRandomJobs_equalThoseOfWorkersAndTheSdk", async () => {
    const { viem } = await network.create();
    const fees = await viem.deployContract("JobFeesHarness");
    const prices = fc.bigInt({ min: 0n, max: 10n ** 13n });
    await fc.assert(
      fc.asyncProperty(shapes, prices, costly, async (shape, gasPrice, dear) => {
        const asked = {
          headerBytes: BigInt(shape.headerBytes),
          checkpoints: BigInt(shape.checkpoints),
          items: BigInt(shape.items),
          answers: BigInt(shape.answers),
          callbackGas: BigInt(shape.callbackGas),
          arityBits: BigInt(shape.arityBits),
          delivered: shape.delivered.map(BigInt),
        };
        const expected = jobGas(shape);
        expect(await fees.read.jobGas([asked])).to.equal(BigInt(expected.total));
        expect(await fees.read.coveringFee([asked, gasPrice])).to.equal(coveringFee(expected, gasPrice));
        const total = expected.total + termsGas(dear);
        const onTerms = await fees.read.coveringFeeOnTerms([asked, { ...PLAIN, ...dear }, gasPrice]);
        expect(onTerms).to.equal(coveringFee({ total }, gasPrice));
      }),
      { numRuns: 100 },
    );
  });
});
