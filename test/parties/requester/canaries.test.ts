import { expect } from "chai";
import { parseEther } from "viem";
import { CanaryDraw, postThroughOutages } from "../../../src/parties/requester/canaries.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { minWindow } from "../../../src/parties/requester/postJob.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { awayAtTransactions, fitfulSession } from "../../../testkit/nodes/fitfulSession.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

describe("canaries", function () {
  const players = usePlayers("suite");

  it("areDrawnOnceEach_andNoContentTwice", async () => {
    const files = ["a", "b", "a again", "c", "b again"];
    const read = (file: string): Promise<Uint8Array> => Promise.resolve(Buffer.from(file[0]!));
    for (let seed = 0; seed < 20; seed++) {
      const draw = new CanaryDraw(files);
      const drawn: string[] = [];
      for (;;) {
        const next = await draw.next(read, (bytes) => [bytes]);
        if (next === undefined) break;
        drawn.push(Buffer.from(next).toString());
      }
      expect(drawn.sort()).to.deep.equal(["a", "b", "c"]);
      expect(draw.isEmpty).to.equal(true);
    }
  });

  it("arePostedOnce_whateverTheNodeMisses", async () => {
    const session = await players().chain.newSession(parseEther("1"));
    const program = describeProgram(mlpProgram());
    // Before a transaction, after one, not at one, and so on; an approval and a deposit come first.
    for (const turns of [[true], [false, true], [false, false, false, false, false, true]]) {
      let turn = 0;
      const isAway = awayAtTransactions(() => turns[turn++] ?? false, 1);
      const before = (await followMarket(session)()).history.jobs.size;
      const termsNow = async () => {
        const deadline = (await session.publicClient.getBlock()).timestamp + 86_400n;
        return { fee: 1n + BigInt(turns.length), window: minWindow(session, program), claimSeconds: 900, deadline };
      };
      const fitful = fitfulSession(session, isAway);
      const jobId = await postThroughOutages(fitful, program, [mlpInput(1)], termsNow, { intervalMs: 1 });
      const { jobs } = (await followMarket(session)()).history;
      expect(jobs.size).to.equal(before + 1);
      expect(jobs.get(jobId)?.open).to.equal(true);
    }
  });
});
