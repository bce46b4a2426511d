import { expect } from "chai";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { answerRun } from "../../src/parties/tickets/answerRun.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import { lookUp, Purse } from "../../src/runs/lookup.ts";
import { blockedText, countedExecute } from "../../testkit/decoders/blockedText.ts";
import { gpt2Decoder } from "../../testkit/models/gpt2.ts";
import { halfDecoder } from "../../testkit/models/halfDecoder.ts";
import { Prng } from "../../testkit/random/prng.ts";

/** The tokens that are expected behind some tokens, in a text with so many places. */
function expectedAfter(tokens: readonly number[], places: number, more = places): number[] | undefined {
  const text = int64Tensor([...tokens, ...new Array<number>(places - tokens.length).fill(0)]).bytes;
  const found = lookUp(text, tokens.length, more);
  if (found === undefined) return undefined;
  const all = [...new BigInt64Array(Uint8Array.from(found).buffer)].map(Number);
  expect(all.slice(0, tokens.length)).to.deep.equal(tokens);
  return all.slice(tokens.length);
}

const ITEMS = 40;
const TINY = { width: 32, heads: 2, tokens: 64, vocabulary: 50, circle: 5 };
const TEXTS: Readonly<Record<string, { bytes: () => Uint8Array; prompt: readonly number[] }>> = {
  // The text becomes 18, 11, 18, 11.
  twoTokensByTurns: { bytes: () => halfDecoder(), prompt: [7, 20] },
  manyTokensInACircle: {
    bytes: () => gpt2Decoder({ ...TINY, layers: 1 }),
    prompt: [7, 20],
  },
  // Its text goes round in circles of changing length.
  nearlyACircle: { bytes: () => gpt2Decoder({ ...TINY, layers: 2 }), prompt: [7, 20] },
  // What stands in the prompt is not what the model writes.
  promptThatMisleads: { bytes: () => halfDecoder(), prompt: [18, 18, 18, 1, 18, 18, 18, 2, 18, 18, 18] },
};

describe("tokens looked up in the text", function () {
  this.timeout(120_000);

  it("afterTokensThatStandBefore_areThoseThatFollowedThere", () => {
    expect(expectedAfter([1, 2, 3, 4, 5, 1, 2, 3], 12)).to.deep.equal([4, 5, 1, 2]);
    expect(expectedAfter([1, 2, 3, 4, 5, 1, 2, 3], 12, 2)).to.deep.equal([4, 5, 0, 0]);
    expect(expectedAfter([9, 9, 9, 9], 6)).to.deep.equal([9, 9]);
    // The latest place counts.
    expect(expectedAfter([1, 2, 3, 7, 1, 2, 3, 8, 1, 2, 3], 12)).to.deep.equal([8]);
  });

  it("ofTooFewTokens_orOfNewOnes_areNone", () => {
    for (const tokens of [[], [1], [1, 1], [1, 1, 1], [1, 2, 3, 4, 1, 2]])
      expect(expectedAfter(tokens, 8), String(tokens)).to.equal(undefined);
    expect(expectedAfter([1, 2, 1, 2, 1], 5)).to.deep.equal([]);
  });

  it("ofRandomTexts_followAPlaceWithTheLatestTokens", () => {
    const prng = new Prng(7);
    for (let n = 0; n < 200; n++) {
      const tokens = Array.from({ length: prng.below(30) }, () => prng.below(3));
      const found = expectedAfter(tokens, 40);
      const ends = tokens.flatMap((_, end) =>
        end >= 3 && tokens.slice(end - 3, end).join() === tokens.slice(-3).join() ? [end] : [],
      );
      const latest = ends.at(-1);
      const all = [...tokens];
      if (latest !== undefined) while (all.length < 40) all.push(all[all.length - tokens.length + latest]!);
      expect(found).to.deep.equal(latest === undefined ? undefined : all.slice(tokens.length));
    }
  });

  for (const [name, { bytes, prompt }] of Object.entries(TEXTS))
    it(`${name}_inBlocks_hasTheRootsOfItemsOneByOne`, async () => {
      const { program, inputs, executor } = await blockedText(bytes(), prompt, ITEMS);
      const alone = countedExecute(executor, false);
      const right = await executeRun(program, inputs, alone.execute);
      for (const lookup of ["always", "where it pays"] as const) {
        const { execute, counts } = countedExecute(executor);
        const run = await executeRun(program, inputs, Object.assign(execute, { lookup }));
        expect(run.runRoot).to.equal(right.runRoot);
        expect(run.answer.root).to.equal(right.answer.root);
        if (lookup !== "always") continue;
        expect(counts.blocks).to.be.greaterThan(2);
        if (name.endsWith("InACircle") || name.endsWith("ByTurns")) expect(counts.singles).to.be.lessThan(ITEMS / 2);
        else expect(counts.wrong).to.be.greaterThan(0);
      }
      const { execute } = countedExecute(executor);
      expect(await answerRun(program, inputs, Object.assign(execute, { lookup: "always" }))).to.deep.equal(
        await answerRun(program, inputs, alone.execute),
      );
      await executor.close();
    });

  it("wrongOnes_loseASixteenthOfTheTimeAtMost", () => {
    for (const [items, length, blockTime] of [
      [64, 4, 25],
      [256, 4, 25],
      [256, 16, 100],
      [1_000, 8, 40],
      [16, 4, 25],
    ] as const) {
      const purse = new Purse(items);
      expect(purse.allows(length)).to.equal(false);
      let [time, item, blocks] = [0, 0, 0];
      while (item < items) {
        item++;
        if (purse.allows(length)) {
          // One item of the block counts.
          purse.block(blockTime, length, 1);
          time += blockTime;
          blocks++;
        } else {
          purse.single(10);
          time += 10;
        }
      }
      expect(time, `${items} items`).to.be.at.most((1 + 1 / 16) * 10 * items);
      expect(blocks > 0).to.equal(items > 16);
    }
  });

  it("rightOnes_areNeverTooExpensive", () => {
    const purse = new Purse(64);
    purse.single(10);
    for (let n = 0; n < 5; n++) {
      expect(purse.allows(4)).to.equal(true);
      purse.block(30, 4, 4);
    }
    // The gain may be lost again, and a sixteenth of the run besides.
    for (let n = 0; n < 3; n++) purse.block(30, 4, 1);
    expect(purse.allows(4)).to.equal(true);
    purse.block(30, 4, 1);
    expect(purse.allows(4)).to.equal(false);
  });

  it("aLongBlock_isAllowedOnceItsWholeTimeMayBeLost", () => {
    const purse = new Purse(64);
    purse.single(10);
    purse.block(24, 4, 4);
    expect([4, 8, 16].map((items) => purse.allows(items))).to.deep.equal([true, true, false]);
    purse.block(40, 8, 8);
    expect([16, 32].map((items) => purse.allows(items))).to.deep.equal([true, false]);
  });
});
