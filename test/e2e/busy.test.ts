import { expect } from "chai";
import { parseEther } from "viem";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** Executes, but one input not before it is released. */
function stuckOn(input: Uint8Array, execute: Execute) {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const isStuck = (bytes: Uint8Array) => Buffer.compare(bytes, input) === 0;
  const stuck: Execute = async (model, inputs) => {
    if (inputs.some(isStuck)) await released;
    return execute(model, inputs);
  };
  return { execute: stuck, release };
}

describe("busy players, end to end", function () {
  const program = mlpProgram();
  const lie = { step: 0, element: 150 };
  const long = mlpInput(51);
  const players = usePlayers("test");

  it("watcher_inALongAudit_playsItsGameOn", async function () {
    const watcherKey = await players().watcherKey();
    const policy = { minFee: parseEther("0.15"), marginSeconds: 10 };
    await players().post(program, [mlpInput(50)], { fee: parseEther("0.2") });
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie), { policy });
    const before = await players().startWatcher(watcherKey, program, reference());
    await first(before, "opened");
    await before.stop();
    const { jobId } = await players().post(program, [long]);
    const honest = await players().startWorker(await players().workerKey(), program, reference());
    await first(honest, "submitted", (e) => e.jobId === jobId);
    const { execute, release } = stuckOn(long, reference());
    const watcher = await players().startWatcher(watcherKey, program, execute);
    await first(watcher, "moved", ({ move }) => move === "prove");
    release();
    await Promise.all([cheat.stop(), honest.stop(), watcher.stop()]);
  });

  it("worker_inALongExecution_answersItsGame", async function () {
    const { execute, release } = stuckOn(long, reference());
    await players().post(program, [mlpInput(50)]);
    const honest = await players().startWorker(await players().workerKey(), program, execute);
    await first(honest, "submitted");
    const { jobId } = await players().post(program, [long]);
    await first(honest, "claimed", (e) => e.jobId === jobId);
    const wrong = await players().startWatcher(await players().watcherKey(), program, reference(lie));
    await first(honest, "moved");
    release();
    await Promise.all([honest.stop(), wrong.stop()]);
  });

  it("worker_pastItsDeadline_freesTheRestOfItsCollateral", async function () {
    const key = await players().workerKey();
    const { requester } = await players().post(program, [mlpInput(52)], { claimSeconds: 600 });
    const failing: Execute = () => Promise.reject(new Error("out of memory"));
    const worker = await players().startWorker(key, program, failing);
    await first(worker, "claimed");
    await players().chain.advance(601);
    await first(worker, "expired");
    await worker.stop();
    const { collateral, penaltyBps } = requester.deployment.parameters;
    const { staked } = await requester.vault.accountOf(players().addressOf(key));
    expect(staked).to.equal(2n * collateral - (collateral * BigInt(penaltyBps)) / 10_000n);
  });
});
