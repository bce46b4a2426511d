import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { formatEther, parseEther, type Hex } from "viem";
import { Health } from "../../../src/base/health.ts";
import { Monitor } from "../../../src/cli/monitor.ts";
import { EngineFaultError } from "../../../src/executor/errors.ts";
import { deposit } from "../../../src/chain/market/deposit.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import type { Execute } from "../../../src/runs/execute.ts";

const LIE = { step: 0, element: 1 };

describe("readiness of a worker and a watcher", function () {
  const players = usePlayers("test");
  const program = mlpProgram();

  /** What a role is given to be watched, and what it says of itself. */
  async function watched() {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
    const log = pino({ level: "warn" }, { write });
    const health = new Health(log);
    const monitor = new Monitor(health, 1_000);
    const base = `http://127.0.0.1:${await monitor.listen(0)}`;
    const { onRound, meter } = monitor;
    /** Waits until `/readyz` says something, or `/metrics`. */
    const says = async (path: "/readyz" | "/metrics", what: string): Promise<void> => {
      const end = performance.now() + 100_000;
      for (let text = ""; !text.includes(what); await sleep(10)) {
        text = await (await fetch(base + path)).text();
        if (performance.now() > end) throw new Error(`${path} does not say ${what}, but ${text}`);
      }
    };
    const notReady = (condition: string) => lines.filter(({ msg }) => msg === `not ready: ${condition}`);
    return { options: { log, health, onRound, meter }, says, notReady, close: () => monitor.close() };
  }

  /** Takes an account's ether, but for some. */
  async function leave(key: Hex, rest: bigint): Promise<void> {
    const { provider } = players().chain;
    const balance = `0x${rest.toString(16)}`;
    await provider.request({ method: "hardhat_setBalance", params: [players().addressOf(key), balance] });
  }

  it("watcherWhoseAuditsFail_isNotReady_untilTheClaimIsJudged", async function () {
    const { options, says, notReady, close } = await watched();
    let isBroken = true;
    const execute: Execute = (...args) =>
      isBroken ? Promise.reject(new Error("Invalid argument")) : reference()(...args);
    const watcher = await players().startWatcher(await players().watcherKey(), program, execute, options);
    await says("/readyz", "ready\n");
    await players().post(program, [mlpInput(1)]);
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    await first(worker, "submitted");
    await says("/readyz", "failed: Invalid argument\n");
    await says("/readyz", "judges: the audit of claim 0x");
    await says("/metrics", 'refute_condition{name="judges"} 0');
    await says("/metrics", 'refute_condition{name="executes"} 0');
    await says("/metrics", "refute_failed_audits_total 2");
    expect(notReady("judges")).to.have.length(1);
    expect(notReady("executes")).to.have.length(1);
    isBroken = false;
    await says("/readyz", "ready\n");
    await says("/metrics", "refute_execution_seconds_count 1");
    await worker.stop();
    await watcher.stop();
    await close();
  });

  it("workerWhoseEngineIsAtFault_isNotReady_submitsNothing_andClaimsNoMore", async function () {
    const { options, says, notReady, close } = await watched();
    const execute: Execute = () => Promise.reject(new EngineFaultError("element [0, 0] is 1"));
    const { jobId } = await players().post(program, [mlpInput(1)]);
    const worker = await players().startWorker(await players().workerKey(), program, execute, options);
    await first(worker, "claimed", (event) => event.jobId === jobId);
    await says("/readyz", "executes: an execution failed: onnxruntime computes wrongly here: element [0, 0] is 1; ");
    await players().post(program, [mlpInput(2)]);
    await players().chain.advance(3_600);
    await first(worker, "expired");
    await sleep(500);
    expect(worker.inbox.all.filter(({ kind }) => kind === "claimed")).to.have.length(1);
    expect(worker.inbox.all.filter(({ kind }) => kind === "submitted")).to.deep.equal([]);
    expect(notReady("executes")[0]).to.include({ code: "ENGINE_FAULT", level: 50 });
    await worker.stop();
    await close();
  });

  it("watcherWithoutCreditForABond_orWithDust_isNotReady_oneThatOnlyReportsIs", async function () {
    const { options, says, notReady, close } = await watched();
    const key = await players().chain.newAccount(parseEther("1"));
    const session = await players().chain.sessionOf(key);
    const watcher = await players().startWatcher(key, program, reference(), options);
    await says("/readyz", `the bond of a game ${formatEther(session.deployment.bond)}: no game can be opened`);
    expect(notReady("pays")).to.have.length(1);
    await deposit(session, session.deployment.bond);
    await says("/readyz", "ready\n");
    await says("/metrics", `refute_credit_wei ${session.deployment.bond}`);
    await leave(key, 2_400_000_000_000n);
    await players().chain.advance(1);
    await says("/readyz", "pays: the account has 0.0000024 ether, but a game may take ");
    await watcher.stop();
    await close();
    const other = await watched();
    const reporter = await players().startWatcher(key, program, reference(), { ...other.options, mode: "watch" });
    await other.says("/metrics", "refute_balance_wei 2400000000000");
    await other.says("/readyz", "ready\n");
    await reporter.stop();
    await other.close();
  });

  it("watcherWhoseMachineIsAtFault_isNotReady_andLosesTwoBondsOfAProgramAtMost", async function () {
    const { options, says, notReady, close } = await watched();
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference(LIE), options);
    for (let k = 1; k <= 3; k++) {
      await players().post(program, [mlpInput(k)]);
      const worker = await players().startWorker(await players().workerKey(), program, reference());
      const { jobId } = await first(worker, "submitted");
      await first(watcher, "differs", (event) => event.jobId === jobId);
      if (k < 3) await says("/readyz", "judges: an execution of program 0x");
      // The honest worker plays its game to the end.
      for (const end = performance.now() + 100_000; lost() < Math.min(k, 2); await sleep(10))
        if (performance.now() > end) throw new Error(`${lost()} games are lost`);
      await worker.stop();
    }
    await sleep(500);
    expect(watcher.inbox.all.filter(({ kind }) => kind === "opened")).to.have.length(2);
    expect(notReady("judges")).to.have.length(1);
    await watcher.stop();
    await close();

    function lost(): number {
      return watcher.inbox.all.filter(({ kind }) => kind === "lost").length;
    }
  });

  it("watcherWhoseExecutionDoesNotEnd_isNotReady_whenMostOfTheWindowIsOver", async function () {
    const { options, says, close } = await watched();
    let goOn = (): void => undefined;
    const released = new Promise<void>((resolve) => (goOn = resolve));
    const execute: Execute = async (...args) => released.then(() => reference()(...args));
    await players().post(program, [mlpInput(1)]);
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    const { jobId } = await first(worker, "submitted");
    const watcher = await players().startWatcher(await players().watcherKey(), program, execute, options);
    await says("/readyz", "ready\n");
    await players().chain.advance(2_800);
    await says("/readyz", "judges: claims without a verdict of which most of the window is over: 1, first 0x");
    goOn();
    await first(watcher, "agrees", (event) => event.jobId === jobId);
    await says("/readyz", "ready\n");
    await worker.stop();
    await watcher.stop();
    await close();
  });

  it("watcherWhoseMoneyCannotBeRead_isNotReady", async function () {
    const { options, says, close } = await watched();
    const key = await players().watcherKey();
    const session = await players().chain.sessionOf(key);
    const getBalance = () => Promise.reject(new Error("no such method"));
    const blind = { ...session, publicClient: { ...session.publicClient, getBalance } };
    const watcher = await players().startWatcher(key, program, reference(), { ...options, session: blind });
    await says("/readyz", "pays: the account cannot be read: no such method");
    await watcher.stop();
    await close();
  });

  it("watcher_showsItsGamesAndTheLeastClock", async function () {
    const { options, says, close } = await watched();
    await players().post(program, [mlpInput(1)]);
    const liar = await players().startWorker(await players().workerKey(), program, reference(LIE));
    await first(liar, "submitted");
    await liar.stop();
    const watcher = await players().startWatcher(await players().watcherKey(), program, reference(), options);
    await first(watcher, "opened");
    await says("/metrics", "refute_open_games 1");
    await says("/metrics", "refute_least_clock_seconds ");
    await watcher.stop();
    await close();
  });

  it("workerWithoutAttestation_orStake_orEther_isNotReady", async function () {
    const { options, says, notReady, close } = await watched();
    const stranger = await players().chain.newAccount(parseEther("1"));
    const unattested = await players().startWorker(stranger, program, reference(), options);
    await says("/readyz", "mayClaim: not attested: no device backs the account: run refute device attest, ");
    expect(notReady("mayClaim")).to.have.length(1);
    await unattested.stop();
    await close();

    const other = await watched();
    const key = await players().workerKey();
    const session = await players().chain.sessionOf(key);
    const worker = await players().startWorker(key, program, reference(), other.options);
    await other.says("/readyz", "ready\n");
    await other.says("/metrics", `refute_stake_wei ${2n * session.deployment.parameters.collateral}`);
    await session.vault.requestWithdraw(2n * session.deployment.parameters.collateral);
    await other.says("/readyz", "0 is free, and a claim locks ");
    await leave(key, 2_400_000_000_000n);
    await players().chain.advance(1);
    await other.says("/readyz", "pays: the account has 0.0000024 ether, but a job,");
    await players().chain.advance(6 * 86_400 + 3_600);
    await other.says("/metrics", 'refute_condition{name="attestation"} 0');
    await worker.stop();
    await other.close();
  });
});
