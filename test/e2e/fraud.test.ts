import { expect } from "chai";
import { pino } from "pino";
import { parseEther } from "viem";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { jobProgress, waitForResult } from "../../src/parties/requester/result.ts";
import type { WatcherEvent } from "../../watcher/events.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference, type Running } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("a wrong claim, end to end", function () {
  const program = mlpProgram();
  const { steps } = program.model.program;
  const lie = { step: 0, element: 150 };
  const players = usePlayers("test");

  it("isRefuted_workerSlashed_watcherRewarded_jobReopenedAndServedByAnother", async function () {
    expect(steps[lie.step]!.count).to.be.above(lie.element);
    const [cheatKey, watcherKey] = [await players().workerKey(), await players().watcherKey()];
    const { requester, jobId } = await players().post(program, [mlpInput(1)]);
    const { bond, parameters } = requester.deployment;
    const creditBefore = (await requester.vault.accountOf(players().addressOf(watcherKey))).credit;
    const cheat = await players().startWorker(cheatKey, program, reference(lie));
    const watcher = await players().startWatcher(watcherKey, program, reference());
    await first(watcher, "moved", ({ move }) => move === "prove");
    const { staked, locked } = await requester.vault.accountOf(players().addressOf(cheatKey));
    expect([staked, locked]).to.deep.equal([parameters.collateral, 0n]);
    const { credit } = await requester.vault.accountOf(players().addressOf(watcherKey));
    expect(credit >= creditBefore + parameters.bounty).to.equal(true);
    expect(credit < creditBefore + parameters.bounty + bond).to.equal(true);
    expect(await jobProgress(requester, jobId)).to.have.property("status", "open");

    const honestKey = await players().workerKey();
    const honest = await players().startWorker(honestKey, program, reference());
    await first(honest, "submitted");
    await players().chain.advance(3_601);
    const { worker } = await waitForResult(requester, jobId, { intervalMs: 20 });
    await Promise.all([cheat.stop(), honest.stop(), watcher.stop()]);
    expect(worker).to.equal(players().addressOf(honestKey));
  });

  it("watcherRestartedAfterEachMove_stillWins", async function () {
    const watcherKey = await players().watcherKey();
    const { requester, jobId } = await players().post(program, [mlpInput(2)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie));
    const moves: string[] = [];
    while (moves.at(-1) !== "prove") {
      const watcher = await players().startWatcher(watcherKey, program, reference());
      const event = await nextMove(watcher);
      moves.push(event.kind === "moved" ? event.move : event.kind);
      await watcher.stop();
    }
    await cheat.stop();
    expect(moves[0]).to.equal("opened");
    expect(moves.filter((move) => move === "pick").length).to.be.above(0);
    expect((await jobProgress(requester, jobId)).claim).to.have.property("refuted", true);
  });

  const nextMove = ({ inbox }: Running<WatcherEvent>) =>
    inbox.first(
      "a move",
      (e): e is Extract<WatcherEvent, { kind: "opened" | "moved" }> => e.kind === "opened" || e.kind === "moved",
    );

  it("inAnyStep_isRefuted", async function () {
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference());
    for (const [step, { count }] of steps.entries()) {
      const { requester, jobId, job } = await players().post(program, [mlpInput(20 + step)]);
      const wrong = { step, element: (count * 3) >> 2 };
      const cheat = await players().startWorker(await players().workerKey(), program, reference(wrong));
      const { claimId } = await first(watcher, "differs", (e) => e.jobId === jobId);
      await first(watcher, "moved", ({ move, claimId: id }) => move === "prove" && id === claimId);
      await cheat.stop();
      const { market } = requester.deployment;
      await requester.sender.send({ address: market, abi: jobMarketAbi, functionName: "cancel", args: [job] });
      const { history } = await followMarket(requester)();
      const [game] = history.claims.get(claimId)!.games;
      expect([game!.proved?.step, Number(game!.proved?.element)]).to.deep.equal([wrong.step, wrong.element]);
    }
    await watcher.stop();
  });

  it("challengedByTwoWatchers_paysTheWinner_andTheOtherTakesItsBondBack", async function () {
    const [aKey, bKey] = [await players().watcherKey(), await players().watcherKey()];
    const { requester } = await players().post(program, [mlpInput(30)]);
    const creditOf = async (key: `0x${string}`) => (await requester.vault.accountOf(players().addressOf(key))).credit;
    const before = await creditOf(bKey);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie));
    const b = await players().startWatcher(bKey, program, reference());
    await first(b, "opened");
    await b.stop();
    expect(await creditOf(bKey)).to.equal(before - requester.deployment.bond);
    const a = await players().startWatcher(aKey, program, reference());
    await first(a, "moved", ({ move }) => move === "prove");
    const restarted = await players().startWatcher(bKey, program, reference());
    await first(restarted, "settled");
    await Promise.all([cheat.stop(), a.stop(), restarted.stop()]);
    // Its bond, and what its own moves cost at the base fee.
    expect((await creditOf(bKey)) >= before).to.equal(true);
  });

  it("metWithoutCreditForTheBond_isReportedOnce_andRefutedOnceThereIsSome", async function () {
    const logged: { code?: string }[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]) });
    const key = await players().chain.newAccount(parseEther("1"));
    const session = await players().chain.sessionOf(key);
    await players().post(program, [mlpInput(40)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie));
    const watcher = await players().startWatcher(key, program, reference(), { log });
    await first(watcher, "differs");
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(logged.filter(({ code }) => code === "BOND").length).to.equal(1);
    await deposit(session, session.deployment.bond);
    await first(watcher, "moved", ({ move }) => move === "prove");
    await Promise.all([cheat.stop(), watcher.stop()]);
  });

  it("inWatchMode_isReportedAndNothingIsSent", async function () {
    const key = await players().watcherKey();
    const { requester, jobId } = await players().post(program, [mlpInput(3)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie));
    const address = players().addressOf(key);
    const nonce = await requester.publicClient.getTransactionCount({ address });
    const watcher = await players().startWatcher(key, program, reference(), { mode: "watch" });
    await first(watcher, "differs", (e) => e.jobId === jobId);
    await Promise.all([cheat.stop(), watcher.stop()]);
    expect(await requester.publicClient.getTransactionCount({ address })).to.equal(nonce);
  });

  it("ofAWorkerThatFallsSilent_diesByTheClock", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(4)]);
    const cheat = await players().startWorker(await players().workerKey(), program, reference(lie));
    await first(cheat, "submitted");
    await cheat.stop();
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference());
    await first(watcher, "opened", (e) => e.claimId.length === 66);
    await players().chain.advance(3_700);
    await first(watcher, "moved", ({ move }) => move === "timeout");
    await watcher.stop();
    expect((await jobProgress(requester, jobId)).claim).to.have.property("refuted", true);
  });
});

describe("a wrong challenge, end to end", function () {
  const program = mlpProgram();
  const players = usePlayers("test");

  it("honestWorkerRestartedAfterEachMove_wins_andTheClaimIsFinalised", async function () {
    const workerKey = await players().workerKey();
    const { requester, jobId } = await players().post(program, [mlpInput(5)]);
    const confused = reference({ step: 0, element: 3 });
    let worker = await players().startWorker(workerKey, program, reference());
    await first(worker, "submitted");
    const watcher = await players().startWatcher(await players().watcherKey(), program, confused);
    await first(watcher, "opened");
    let restarts = 0;
    let conceded = false;
    const concession = first(watcher, "moved", ({ move }) => move === "concede").then(() => void (conceded = true));
    while (!conceded) {
      const moved = first(worker, "moved");
      moved.catch(() => undefined);
      await Promise.race([moved, concession]);
      await worker.stop();
      worker = await players().startWorker(workerKey, program, reference());
      restarts++;
    }
    expect(restarts).to.be.above(1);
    await watcher.stop();
    await players().chain.advance(3_601);
    await waitForResult(requester, jobId, { intervalMs: 20 });
    await first(worker, "collected");
    await worker.stop();
    const { bond, parameters } = requester.deployment;
    const { credit, staked } = await requester.vault.accountOf(players().addressOf(workerKey));
    expect(staked).to.equal(2n * parameters.collateral);
    // The fee, the rest of the challenger's bond, and what the moves drew from it.
    expect(credit).to.equal(10n ** 17n + bond);
  });

  it("challengerThatFallsSilent_losesByTheClock_andTheClaimIsFinalised", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(6)]);
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    const { root } = await first(worker, "submitted");
    const watcher = await players().startWatcher(
      await players().watcherKey(),
      program,
      reference({ step: 0, element: 3 }),
    );
    await first(watcher, "opened");
    await watcher.stop();
    await first(worker, "moved", ({ move }) => move !== "timeout");
    await players().chain.advance(3_700);
    await first(worker, "moved", ({ move }) => move === "timeout");
    const result = await waitForResult(requester, jobId, { intervalMs: 20 });
    await worker.stop();
    expect(result.root).to.equal(root);
  });
});
