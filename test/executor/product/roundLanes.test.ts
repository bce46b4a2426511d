import { expect } from "chai";
import { roundLanes } from "../../../src/executor/product/roundLanes.ts";
import { ExactSum } from "../../../src/numerics/exactSum.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const LANES = 24;

/** A sum as lanes, some with bits that belong to the next lane. */
function lanesOf(value: bigint, prng?: Prng): Float64Array {
  const lanes = Float64Array.from({ length: LANES }, (_, k) => Number(BigInt.asUintN(32, value >> BigInt(32 * k))));
  if (prng === undefined) return lanes;
  for (let k = 0; k + 1 < LANES; k++) {
    const moved = Math.min(prng.below(3), lanes[k + 1]!);
    lanes[k + 1]! -= moved;
    lanes[k]! += moved * 2 ** 32;
  }
  return lanes;
}

function compare(value: bigint, prng?: Prng): void {
  const sum = new ExactSum();
  sum.value = value;
  expect(roundLanes(lanesOf(value, prng)), value.toString(16)).to.equal(Number(sum.round()));
}

describe("roundLanes", () => {
  it("roundsAsTheDefinition_atEachLengthOfTheSum_nextToMidpoints_ofEitherSign", () => {
    for (let length = 1; length < 430; length++) {
      const top = 1n << BigInt(length - 1);
      const half = length > 24 ? 1n << BigInt(length - 25) : 0n;
      for (const mantissa of [
        top,
        top + 1n,
        2n * top - 1n,
        top + half,
        top + half + 1n,
        top + half - 1n,
        top + 3n * half,
      ])
        for (const value of [mantissa, -mantissa]) compare(value);
    }
  });

  it("roundsAsTheDefinition_randomSums_withCarriesLeft", () => {
    const prng = new Prng(3);
    for (let round = 0; round < 20_000; round++) {
      let value = 0n;
      for (let part = prng.below(4); part >= 0; part--) value += BigInt(prng.below(2 ** 30)) << BigInt(prng.below(400));
      compare(prng.below(2) === 0 ? value : -value, prng);
    }
    compare(0n);
  });
});
