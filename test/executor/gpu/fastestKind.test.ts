import { expect } from "chai";
import { fastestKind } from "../../../src/executor/gpu/product/fastestKind.ts";
import type { ResidueKind } from "../../../src/executor/gpu/product/moduli.ts";

describe("the kind of a GPU's products", () => {
  /** A GPU whose kernels take so many nanoseconds for a thousand terms, and so many milliseconds to begin. */
  const gpuOf = (rates: Record<ResidueKind, number>, start: number) => {
    const calls: [ResidueKind, number][] = [];
    const timed = (kind: ResidueKind, size: number, times: number): Promise<number[]> => {
      calls.push([kind, size]);
      const took = start + (size ** 3 / 1e9) * rates[kind];
      return Promise.resolve(Array.from({ length: times }, (_, k) => took + (k === 1 ? 0 : 500)));
    };
    return { calls, timed };
  };

  it("isTheFasterOne_byTheBestTime_atASizeThatTakesLongEnough", async () => {
    for (const faster of ["bytes", "floats"] as const) {
      const { calls, timed } = gpuOf({ bytes: 9, floats: 9, [faster]: 3 }, 1);
      expect(await fastestKind(["bytes", "floats"], timed)).to.equal(faster);
      expect(calls.at(-1)).to.deep.equal(["floats", 2_048]);
    }
    const slow = gpuOf({ bytes: 80_000, floats: 70_000 }, 1);
    expect(await fastestKind(["bytes", "floats"], slow.timed)).to.equal("floats");
    expect(slow.calls).to.deep.equal([
      ["bytes", 128],
      ["floats", 128],
    ]);
  });

  it("isTheOnlyOne_withoutMeasuring", async () => {
    const { calls, timed } = gpuOf({ bytes: 1, floats: 2 }, 1);
    expect(await fastestKind(["floats"], timed)).to.equal("floats");
    expect(calls).to.deep.equal([]);
  });
});
