import { expect } from "chai";
import type { Decision } from "../../../src/model/decision/decision.ts";
import { MarginError } from "../../../src/model/decision/errors.ts";
import { readMargin, type DecidingTensor } from "../../../src/model/decision/margin.ts";

type Parameters<D> = D extends Decision ? Omit<D, "node" | "operator" | "tensors"> : never;

/** Reads the margin of a decision of these tensors, float64. */
function read(parameters: Parameters<Decision>, ...tensors: [dims: number[], values: number[]][]) {
  const names = tensors.map((_, i) => `t${i}`);
  const decision = { node: "it", operator: "It", tensors: names, ...parameters } as Decision;
  const given = tensors.map(([dims, values], i): [string, DecidingTensor] => [
    names[i]!,
    { dims, data: Float64Array.from(values) },
  ]);
  return readMargin(decision, new Map(given));
}

const margin = (...all: Parameters_) => read(...all).margin;
type Parameters_ = [Parameters<Decision>, ...[dims: number[], values: number[]][]];

describe("readMargin", () => {
  it("argmax_isTheLeastGapOfTheTwoLargestOfARow", () => {
    const argmax = { kind: "argmax", axis: -1, largest: true } as const;
    expect(
      read(argmax, [
        [2, 3],
        [1, 5, 2, -9, -3, -4],
      ]),
    ).to.deep.equal({ margin: 1, scale: 9 });
    expect(
      margin({ ...argmax, axis: 0 }, [
        [2, 3],
        [1, 5, 2, -9, -3, -4],
      ]),
    ).to.equal(6);
    expect(
      margin({ ...argmax, largest: false }, [
        [2, 3],
        [1, 5, 2, -9, -3, -4],
      ]),
    ).to.equal(1);
    expect(margin(argmax, [[3], [4, 4, 1]])).to.equal(0);
    expect(
      margin(argmax, [
        [4, 1],
        [4, 4, 1, 0],
      ]),
    ).to.equal(Infinity);
    expect(read(argmax, [[0, 3], []])).to.deep.equal({ margin: Infinity, scale: 0 });
    // Rows of a middle axis lie apart.
    const values = [0, 10, 1, 30, 5, 20, 7, 6, 9, 2, 4, 3];
    expect(margin({ ...argmax, axis: 1 }, [[2, 3, 2], values])).to.equal(2);
  });

  it("topK_isTheLeastGapAmongTheKAndOneMoreLargest", () => {
    const topk = { kind: "topk", axis: -1, k: 2, largest: true } as const;
    expect(margin(topk, [[5], [1, 9, 6, 1, 5]])).to.equal(1);
    expect(margin({ ...topk, k: 5 }, [[5], [1, 9, 6, 1, 5]])).to.equal(0);
    expect(margin({ ...topk, largest: false }, [[4], [1, 9, 4, 2]])).to.equal(1);
    expect(margin({ ...topk, k: 3 }, [[3], [10, 7, 1]])).to.equal(3);
  });

  it("comparison_isTheLeastDistance_andBroadcasts", () => {
    const comparison = { kind: "comparison" } as const;
    expect(
      read(
        comparison,
        [
          [2, 2],
          [1, 2, 3, 4],
        ],
        [[], [2.5]],
      ),
    ).to.deep.equal({ margin: 0.5, scale: 4 });
    expect(
      margin(
        comparison,
        [
          [2, 1],
          [1, 20],
        ],
        [[3], [4, 8, 16]],
      ),
    ).to.equal(3);
    expect(margin(comparison, [[3], [1, 2, 3]], [[3], [7, 2, 9]])).to.equal(0);
  });

  it("rounding_isTheDistanceToTheNearestBoundary", () => {
    const rounding = { kind: "rounding", boundaries: "halves" } as const;
    expect(margin(rounding, [[3], [1.25, -0.25, 2]])).to.equal(0.25);
    expect(margin(rounding, [[1], [-1.5]])).to.equal(0);
    expect(margin({ ...rounding, boundaries: "whole" }, [[2], [0.25, -3.125]])).to.equal(0.125);
    expect(margin({ ...rounding, boundaries: "wholeButZero" }, [[2], [0, 0.25]])).to.equal(0.75);
    expect(margin({ ...rounding, boundaries: "wholeButZero" }, [[1], [-2.25]])).to.equal(0.25);
    const range = [-1, 256] as const;
    expect(margin({ ...rounding, boundaries: "none", range }, [[2], [7, 250]])).to.equal(6);
    expect(margin({ ...rounding, boundaries: "none", range }, [[2], [7, 300]])).to.equal(0);
    expect(margin({ ...rounding, range }, [[1], [255.75]])).to.equal(0.25);
  });

  it("sign_isTheDistanceToZero", () => {
    expect(read({ kind: "sign" }, [[3], [-0.5, 2, 4]])).to.deep.equal({ margin: 0.5, scale: 4 });
  });

  it("nanOrInfinityAnywhere_isNoMargin", () => {
    for (const bad of [NaN, Infinity, -Infinity])
      expect(read({ kind: "argmax", axis: 0, largest: true }, [[3], [9, 1, bad]])).to.deep.equal({
        margin: 0,
        scale: Infinity,
      });
  });

  it("tensorThatIsMissingOrDoesNotFit_isRefusedByName", () => {
    const decision: Decision = { kind: "sign", node: "it", operator: "Sign", tensors: ["h"] };
    expect(() => readMargin(decision, new Map())).to.throw(MarginError, '"h"');
    const short = new Map([["h", { dims: [3], data: Float32Array.of(1, 2) }]]);
    expect(() => readMargin(decision, short)).to.throw(MarginError, "2 elements");
    expect(() => read({ kind: "argmax", axis: 2, largest: true }, [[2], [1, 2]])).to.throw(MarginError, "axis 2");
    expect(() => read({ kind: "comparison" }, [[2], [1, 2]], [[3], [1, 2, 3]])).to.throw(MarginError, "do not fit");
    expect(() => read({ kind: "token", drawn: true }, [[2], [1, 2]])).to.throw(MarginError, "drawn");
  });

  it("drawnRows_areThoseOfASortedCopy", () => {
    // Judged by sorting each row.
    let state = 1;
    const random = (): number => ((state = (state * 48_271) % 2_147_483_647) / 2_147_483_647) * 20 - 10;
    for (let k = 1; k < 6; k++) {
      const rows = Array.from({ length: 7 }, () => Array.from({ length: 6 }, random));
      const gaps = rows.flatMap((row) => {
        const sorted = row.toSorted((a, b) => b - a);
        return sorted.slice(0, k).map((value, i) => value - sorted[i + 1]!);
      });
      expect(margin({ kind: "topk", axis: 1, k, largest: true }, [[7, 6], rows.flat()])).to.equal(Math.min(...gaps));
    }
  });
});
