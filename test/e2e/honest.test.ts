import { expect } from "chai";
import { parseEther } from "viem";
import { jobProgress, waitForResult } from "../../src/parties/requester/result.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("an honest job, end to end", function () {
  const program = mlpProgram();
  const input = mlpInput(7);
  const players = usePlayers("suite");

  it("isExecutedFinalisedDeliveredAndPaid_whileTheWatcherStaysSilent", async function () {
    const workerKey = await players().workerKey();
    const watcherKey = await players().watcherKey();
    const worker = await players().startWorker(workerKey, program, reference(), { selfAuditSamples: 4 });
    const watcher = await players().startWatcher(watcherKey, program, reference());
    const { requester, jobId } = await players().post(program, [input]);
    const { claimId } = await first(watcher, "agrees");
    expect(await jobProgress(requester, jobId)).to.have.property("status", "submitted");
    await players().chain.advance(3_601);
    const result = await waitForResult(requester, jobId, { intervalMs: 20 });
    await worker.stop();
    await watcher.stop();

    const [y] = await lastTensors();
    expect(result.worker).to.equal(players().addressOf(workerKey));
    expect(Buffer.from(result.outputs.get(0)!).equals(Buffer.from(y!))).to.equal(true);
    expect((await first(worker, "delivered")).claimId).to.equal(claimId);
    expect((await requester.vault.accountOf(result.worker)).credit).to.equal(parseEther("0.1"));
    expect(watcher.inbox.all.map(({ kind }) => kind)).to.deep.equal(["agrees"]);
    expect(await jobProgress(requester, jobId)).to.have.property("status", "complete");
  });

  async function lastTensors() {
    const tensors = await reference()(program.model, [input]);
    return program.model.program.outputs.map((j) => tensors[program.model.program.checkpoints[j]!.step]);
  }

  it("jobOfAnUnknownProgram_isNeitherClaimedNorJudged", async function () {
    const other = mlpProgram(2);
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference());
    const ofOther = await players().startWorker(await players().workerKey(), other, reference());
    const { jobId } = await players().post(other, [mlpInput(8)]);
    const unknown = await first(watcher, "unknown");
    expect(unknown.jobId).to.equal(jobId);
    await Promise.all([worker.stop(), watcher.stop(), ofOther.stop()]);
    expect(worker.inbox.all).to.deep.equal([]);
  });

  it("workerStoppedAfterClaiming_submitsAfterItsRestart", async function () {
    const key = await players().workerKey();
    const { requester, jobId } = await players().post(program, [mlpInput(9)]);
    const stuck = await players().startWorker(key, program, () => new Promise(() => undefined));
    await first(stuck, "claimed");
    // Its execution never ends, as if the machine had died: it is left behind, not stopped.
    void stuck.stop();
    const restarted = await players().startWorker(key, program, reference());
    await first(restarted, "submitted");
    await players().chain.advance(3_601);
    await waitForResult(requester, jobId, { intervalMs: 20 });
    await restarted.stop();
  });

  it("afterAReorganisationThatDropsItsClaim_theWorkerClaimsAgain", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(10)]);
    const snapshot = await players().chain.provider.request({ method: "evm_snapshot" });
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    await first(worker, "submitted");
    const before = worker.inbox.all.length;
    await players().chain.provider.request({ method: "evm_revert", params: [snapshot] });
    // The worker's attestation and stake were dropped with the claim; another one takes the job, and the first goes on.
    const other = await players().startWorker(await players().workerKey(), program, reference());
    await first(other, "submitted");
    await players().chain.advance(3_601);
    await waitForResult(requester, jobId, { intervalMs: 20 });
    await Promise.all([worker.stop(), other.stop()]);
    // Until the chain is longer than before it cannot tell a reorganisation from a node that lags: it offers its
    // submission again, which is refused.
    expect(worker.inbox.all.slice(before).filter(({ kind }) => kind !== "executed")).to.deep.equal([]);
  });
});
