import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { custom, keccak256, parseEther, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { openSession } from "../../../src/chain/market/session.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { runWorker } from "../../../src/parties/worker/worker.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { first, reference, start } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

/** Code for the answer true. */
const ALL_HELD: Hex = "0x60015f5260205ff3";
/** Code for a failure with all gas. */
const FAILS: Hex = "0xfe";
/** Code for the answer true after the turns of a loop, 26 gas each. */
const heldAfter = (turns: number): Hex =>
  `0x63${turns.toString(16).padStart(8, "0")}5b600190038060055760015f5260205ff3`;
const CLASSES: Address = `0x${"c1".repeat(20)}`;

describe("jobs that ask a contract of the requester's for the worker's class", function () {
  this.timeout(60_000);
  const players = usePlayers("test");
  const program = mlpProgram();
  const policy = { minFee: 1n, marginSeconds: 10 };
  const place = (code: Hex) => players().chain.provider.request({ method: "hardhat_setCode", params: [CLASSES, code] });

  /**
   * Starts a worker whose transactions find other code at the contract of classes than its simulations do.
   * @param paid The code for transactions.
   * @param free The code for simulations.
   */
  async function work(paid: Hex, free = paid) {
    await place(free);
    const { provider, chainId, market } = players().chain;
    const key = await players().workerKey();
    const sent: Hex[] = [];
    const request = async (one: { method: string; params?: unknown[] }): Promise<unknown> => {
      if (one.method !== "eth_sendRawTransaction") return provider.request(one);
      const [raw] = one.params as [Hex];
      sent.push(keccak256(raw));
      await place(paid);
      // The embedded chain tells at once of a failure; other nodes give the hash.
      await provider.request(one).catch(() => undefined);
      await place(free);
      return keccak256(raw);
    };
    const transport = custom({ request } as never, { retryCount: 0 });
    const session = await openSession({ endpoint: { transport }, chainId, market, account: privateKeyToAccount(key) });
    const warnings: { msg: string }[] = [];
    const log = pino(
      { level: "warn" },
      { write: (line: string) => void warnings.push(JSON.parse(line) as { msg: string }) },
    );
    let rounds = 0;
    const role = { policy, log, selfAuditSamples: 0, onRound: () => void rounds++ };
    const worker = start<WorkerEvent>(session, (all) =>
      runWorker({ ...all, programs: ProgramLibrary.of([program]), execute: reference(), ...role }),
    );
    const someRounds = async (): Promise<void> => {
      for (const end = rounds + 15; rounds < end;) await sleep(10);
    };
    const { collateral } = session.deployment.parameters;
    const post = async (k: number, fee: string, classes?: Address) => {
      const rare = classes && { collateral, classes, class: 1 };
      return players().post(program, [mlpInput(k)], { fee: parseEther(fee), ...(rare && { rare }) });
    };
    return { worker, sent, warnings, post, someRounds };
  }

  it("oneThatAnswersWithinTheBound_isAsked_andTheJobTaken", async () => {
    const { worker, post } = await work(heldAfter(1_000));
    const { jobId } = await post(1, "0.1", CLASSES);
    const claimed = await first(worker, "claimed");
    await worker.stop();
    expect(claimed.jobId).to.equal(jobId);
    expect(claimed.receipt.gasUsed < 200_000n).to.equal(true);
  });

  it("oneThatBurnsMoreThanTheBound_costsNothing_andOtherJobsAreTaken", async () => {
    const { worker, post, sent, someRounds } = await work(heldAfter(10_000));
    await post(2, "0.2", CLASSES);
    await someRounds();
    expect(sent).to.have.length(0);
    const { jobId } = await post(3, "0.1");
    const claimed = await first(worker, "claimed");
    await worker.stop();
    expect(claimed.jobId).to.equal(jobId);
  });

  it("oneThatFailsOnlyInTransactions_costsOneTransaction_whateverJobsNameIt", async () => {
    const { worker, post, sent, warnings, someRounds } = await work(FAILS, ALL_HELD);
    for (const k of [4, 5]) await post(k, "0.2", CLASSES);
    await someRounds();
    await someRounds();
    expect(sent).to.have.length(1);
    expect(warnings.map(({ msg }) => msg).filter((msg) => msg.startsWith("a claim was simulated"))).to.have.length(1);
    const { jobId } = await post(6, "0.1");
    const claimed = await first(worker, "claimed");
    await worker.stop();
    expect(claimed.jobId).to.equal(jobId);
  });
});
