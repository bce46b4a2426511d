import { expect } from "chai";
import { cutBatch, partSalt } from "../../../src/parties/dispatcher/batch.ts";
import { DispatchInputError } from "../../../src/parties/dispatcher/errors.ts";
import { nextFee } from "../../../src/parties/dispatcher/options.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";

const program = runProgram();
const ITEMS = 7;
/** The program's inputs with a state for each of so many parts. */
const inputs = (parts: number): Uint8Array[] => {
  const [state, ...others] = runInputBytes(ITEMS) as [Uint8Array, ...Uint8Array[]];
  return [Buffer.concat(Array.from({ length: parts }, (_, part) => state.map((byte) => byte ^ part))), ...others];
};
const cut = (more: object = {}) => cutBatch({ program, inputs: inputs(3), items: ITEMS, partItems: 3, ...more });

describe("cutting a batch", () => {
  it("parts_takeTheirOwnTensorsTheirStateAndTheirIndex_andTheLastMayBeShorter", () => {
    const { parts, joins } = cut({ firstItem: 100 });
    expect(parts.map(({ first, items, firstItem }) => [first, items, firstItem])).to.deep.equal([
      [0, 3, 100],
      [3, 3, 103],
      [6, 1, 106],
    ]);
    const [states, each, shared] = inputs(3) as [Uint8Array, Uint8Array, Uint8Array];
    const [tensor, state] = [each.length / ITEMS, states.length / 3];
    for (const { number, first, items, inputs: own } of parts) {
      expect(own[0]).to.deep.equal(states.subarray(number * state, (number + 1) * state));
      expect(own[1]).to.deep.equal(each.subarray(first * tensor, (first + items) * tensor));
      expect(own[2]).to.deep.equal(shared);
      expect(own[3]!.length).to.equal(0);
    }
    expect(joins).to.deep.equal([{ input: 0, output: 0 }]);
  });

  it("salts_areTheSameInEachLife_andDifferByContentNamePartAndAttempt", () => {
    const [one, other] = [cut(), cut()];
    expect(one.id).to.equal(other.id);
    const changed = inputs(3).map((bytes, k) => (k === 1 ? bytes.map((byte) => byte ^ 1) : bytes));
    const ids = [one, cut({ name: "again" }), cut({ inputs: changed }), cut({ firstItem: 1 })].map(({ id }) => id);
    expect(new Set(ids).size).to.equal(4);
    const salts = one.parts.flatMap((part) => [0, 1].map((attempt) => partSalt(one.id, part, attempt)));
    expect(new Set(salts).size).to.equal(6);
  });

  it("inputsThatDoNotFit_areRefusedByName", () => {
    for (const [request, says] of [
      [{ items: 0 }, /items: 0, expected a whole number from 1/],
      [{ partItems: 65_537 }, /--part-items.*65537/],
      [{ items: 5_000_000_000, partItems: 1 }, /5000000000 parts, at most 100000.*--part-items/],
      [{ firstItem: 2 ** 32 - 6 }, /last part begins with item 4294967296, at most 4294967295.*--first-item/],
      [
        { inputs: inputs(2) },
        /input "state" has 2400 bytes, expected 3600: the state that each of 3 parts begins with/,
      ],
      [{ inputs: inputs(3).slice(1) }, /takes 4 inputs, got 3/],
      [{ program: runProgram("step"), partItems: 7, inputs: inputs(3) }, /input "state" has 3600/],
    ] as const)
      expect(() => cut(request)).to.throw(DispatchInputError, says);
  });

  it("fees_areRaisedOnlyIfNobodyWantedTheJob_andNeverAboveTheMost", () => {
    const terms = { fee: 100n, maxFee: 140n };
    expect(nextFee(terms)).to.equal(100n);
    expect(nextFee(terms, 100n, true)).to.equal(100n);
    expect(nextFee(terms, 100n, false)).to.equal(125n);
    expect(nextFee(terms, 125n, false)).to.equal(140n);
    expect(nextFee(terms, 140n, false)).to.equal(140n);
  });
});
