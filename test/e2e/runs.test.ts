import { expect } from "chai";
import { executeReference } from "../../src/executor/reference.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { first } from "../../testkit/players/players.ts";
import { refutedClaim } from "../../testkit/players/refutedClaim.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { RUN_STEPS, runInputBytes, runProgram } from "../../testkit/programs/runProgram.ts";
import type { Execute } from "../../src/runs/execute.ts";

const ITEMS = 21;
const program = runProgram();

/** Executes by the definition; in one item a step's tensor gets another element, and all later ones follow from it. */
const lying =
  (item: number, step: number, element: number): Execute =>
  (model, inputs) =>
    Promise.resolve(
      executeReference(model, inputs, {
        onStep: (s, tensor) => {
          const isItem = new DataView(inputs[3]!.buffer, inputs[3]!.byteOffset).getBigInt64(0, true) === BigInt(item);
          if (isItem && s === step) tensor[4 * element]! ^= 1;
        },
      }),
    );

const honest: Execute = (model, inputs) => Promise.resolve(executeReference(model, inputs));

describe("runs: one claim over many items", function () {
  this.timeout(120_000);
  const players = usePlayers("test");

  it("honestRun_isFinalised_andItsLastOutputDelivered", async () => {
    const worker = await players().startWorker(await players().workerKey(), program, honest);
    const { requester, jobId, job } = await players().post(program, runInputBytes(ITEMS), { items: ITEMS });
    expect(job.items).to.equal(ITEMS);
    expect(job.deliverables).to.equal(1n);
    const { root } = await first(worker, "submitted");
    await players().chain.advance(3_601);
    await first(worker, "delivered");
    await worker.stop();
    const { history } = await followMarket(requester)();
    const claim = history.jobs.get(jobId)!.claims[0]!;
    expect(claim.claim.root).to.equal(root);
    // What a loop over the definition gives.
    const bytes = runInputBytes(ITEMS);
    let state = bytes[0]!;
    for (let item = 0; item < ITEMS; item++) {
      const index = new Uint8Array(BigInt64Array.of(BigInt(item)).buffer);
      const x = bytes[1]!.subarray(item * state.length, (item + 1) * state.length);
      state = executeReference(program.model, [state, x, bytes[2]!, index])[RUN_STEPS.last]!;
    }
    expect(claim.delivered.get(0)).to.equal(`0x${Buffer.from(state).toString("hex")}`);
  });

  for (const [name, item, step] of [
    ["theFirstItem_inWhatReadsTheJobsStateAndItsOwnTensor", 0, RUN_STEPS.carriedAndEach],
    ["anItem_inWhatReadsTheStateOfTheItemBefore", 13, RUN_STEPS.carriedAndEach],
    ["anItem_inWhatReadsTheSharedInput", 16, RUN_STEPS.shared],
    ["anItem_inWhatReadsTheIndex", 5, RUN_STEPS.index],
    ["theLastItem_inWhatReadsTheStateOnceMore", ITEMS - 1, RUN_STEPS.last],
  ] as const) {
    it(`lieIn_${name}_isRefuted`, async () => {
      const job = { program, inputs: runInputBytes(ITEMS), items: ITEMS };
      const claim = await refutedClaim(players(), job, lying(item, step, 200), honest);
      const { proved, moves } = claim.games[0]!;
      expect(claim.refuted).to.equal(true);
      expect(proved).to.include({ step, element: 200n });
      expect(moves.at(-1)!.state.item).to.equal(item);
    });
  }
});
