import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { publishedTensor, type TensorSource } from "../../../src/program/trace/published.ts";

const BYTES = new Uint8Array(1_024).fill(7);
const tree = tensorTree(BYTES);
const named = { claimId: "0x", item: 0, bytes: BYTES.length } as const;
const committed = { height: tree.depth, index: 0, node: tree.root };

/**
 * Asks a source that takes its time for the tensors of many games.
 * @returns How often it was asked, and what was taken.
 */
async function askFor(games: number, answer: () => Promise<Uint8Array | undefined>): Promise<[number, number]> {
  let [asked, taken] = [0, 0];
  const source: TensorSource = async () => {
    asked++;
    await sleep(100);
    return answer();
  };
  for (let game = 0; game < games; game++)
    if ((await publishedTensor(source, { ...named, step: game }, committed)) !== undefined) taken++;
  return [asked, taken];
}

describe("publishedTensor", () => {
  for (const [what, answer] of [
    ["nothing", () => Promise.resolve(undefined)],
    ["errors", () => Promise.reject(new Error("timeout"))],
    ["anotherTensor", () => Promise.resolve(BYTES.map((byte) => byte ^ 1))],
  ] as const) {
    it(`sourceThatIsSlowToGive_${what}_keepsManyGamesWaitingOnce`, async () => {
      expect(await askFor(500, answer)).to.deep.equal([1, 0]);
    });
  }

  it("sourceThatGivesTheTensor_isAskedAgain_andASourceThatGaveNothing_afterAWhile", async () => {
    expect(await askFor(3, () => Promise.resolve(BYTES))).to.deep.equal([3, 3]);
    let has = false;
    const source: TensorSource = () => Promise.resolve(has ? BYTES : undefined);
    const ask = () => publishedTensor(source, { ...named, step: 0 }, committed);
    expect(await ask()).to.equal(undefined);
    has = true;
    let tensor = await ask();
    for (let tries = 0; tensor === undefined && tries < 100; tries++) {
      await sleep(10);
      tensor = await ask();
    }
    expect(tensor?.bytes).to.equal(BYTES);
  });
});
