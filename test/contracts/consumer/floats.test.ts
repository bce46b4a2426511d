import { expect } from "chai";
import fc from "fast-check";
import { network } from "hardhat";
import { bytesToHex } from "viem";

/** All float32 are whole multiples of 2^-149. */
const UNIT_BITS = 149;
const [INFINITY, NAN, MAX_DECIMALS] = [0x7f800000, 0x7fc00001, 38n];

/** A float32 times 10^decimals, rounded towards zero: the engine's own float32, and exact fractions. */
function expected(bits: number, decimals: bigint): bigint {
  const value = new Float32Array(Uint32Array.of(bits).buffer)[0]!;
  // Exact: a float64 has room for the exponent.
  return (BigInt(value * 2 ** UNIT_BITS) * 10n ** decimals) / 2n ** BigInt(UNIT_BITS);
}

const tensor = (all: readonly number[]) => {
  const bytes = new DataView(new ArrayBuffer(4 * all.length));
  all.forEach((bits, k) => bytes.setUint32(4 * k, bits, true));
  return bytesToHex(new Uint8Array(bytes.buffer));
};

const isFinite32 = (bits: number): boolean => (bits & INFINITY) !== INFINITY;
/** Zeros, the least and the greatest subnormal and normal numbers, 1, and neighbours of whole numbers. */
const EDGES = [0, 1, 0x7fffff, 0x800000, 0x3f800000, 0x3f7fffff, 0x4b000001, 0x4b7fffff, 0x7f7fffff].flatMap((bits) => [
  bits,
  (bits | 0x80000000) >>> 0,
]);

describe("Floats", () => {
  const deploy = async () => (await network.create()).viem.deployContract("FloatsHarness");

  it("fixedAt_ofAnyNumber_isTheExactProduct_roundedTowardsZero", async () => {
    const floats = await deploy();
    for (const decimals of [0n, 6n, 18n, MAX_DECIMALS])
      expect(await floats.read.fixedOf([tensor(EDGES), decimals])).to.deep.equal(
        EDGES.map((bits) => expected(bits, decimals)),
      );
    // Around 1 and over the whole range.
    const near = fc.integer({ min: 0x30000000, max: 0x50000000 });
    const bits = fc.oneof(near, fc.integer({ min: 0, max: 0xffffffff })).filter(isFinite32);
    const many = fc.array(bits, { minLength: 1, maxLength: 64 });
    await fc.assert(
      fc.asyncProperty(many, fc.bigInt({ min: 0n, max: MAX_DECIMALS }), async (all, decimals) => {
        const read = await floats.read.fixedOf([tensor(all), decimals]);
        expect(read).to.deep.equal(all.map((each) => expected(each, decimals)));
      }),
      { numRuns: 60 },
    );
  });

  it("bitsAt_isTheNumberOfThePlace_andWhatIsNone_isRefusedByName", async () => {
    const [floats, { viem }] = [await deploy(), await network.create()];
    const all = [0x3fc00000, INFINITY, NAN];
    for (const [k, bits] of all.entries()) expect(await floats.read.bitsAt([tensor(all), BigInt(k)])).to.equal(bits);
    const refused = (call: Promise<unknown>, name: string) =>
      viem.assertions.revertWithCustomError(call, floats, name as never);
    await refused(floats.read.bitsAt([tensor(all), 3n]), "NoSuchNumber");
    await refused(floats.read.bitsAt(["0x000000", 0n]), "NoSuchNumber");
    await refused(floats.read.bitsAt([tensor(all), 2n ** 255n]), "NoSuchNumber");
    for (const k of [1n, 2n]) await refused(floats.read.fixedAt([tensor(all), k, 0n]), "NotFinite");
    await refused(floats.read.fixedAt([tensor(all), 0n, MAX_DECIMALS + 1n]), "TooManyDecimals");
  });
});
