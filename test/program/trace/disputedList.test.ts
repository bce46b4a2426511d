import { expect } from "chai";
import fc from "fast-check";
import { sha256 } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { DisputedList } from "../../../src/program/trace/disputedList.ts";

const list = (width: number, lie = -1): MerkleList =>
  new MerkleList(
    Buffer.concat(
      Array.from({ length: width }, (_, k) => sha256(Buffer.from(`${k}${k >= lie && lie >= 0 ? "!" : ""}`))),
    ),
  );

describe("DisputedList", () => {
  it("descent_byReveals_findsTheFirstLieAndOpensAllBeforeIt", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), fc.integer({ min: 1, max: 4 }), (width, seed, arity) => {
        const lie = seed % width;
        const honest = list(width);
        const cheat = list(width, lie);
        const disputed = new DisputedList(honest);
        let [height, index] = [honest.depth, 0];
        disputed.addReveal(height, index, [cheat.root]);
        while (height > 0) {
          const hop = Math.min(arity, height);
          const children = Array.from({ length: 2 ** hop }, (_, k) => cheat.node(height - hop, index * 2 ** hop + k));
          disputed.addReveal(height, index, children);
          index = disputed.firstDifference(height, index, hop)!;
          height -= hop;
        }
        expect(index).to.equal(lie);
        for (let k = 0; k <= lie; k++) expect(disputed.path(k)).to.deep.equal(cheat.path(k));
      }),
    );
  });

  it("firstDifference_honestReveal_isUndefined", () => {
    const honest = list(9);
    const disputed = new DisputedList(honest);
    expect(disputed.firstDifference(honest.depth, 0, 2)).to.equal(undefined);
  });
});
