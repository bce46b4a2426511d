import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { createWalletClient, zeroAddress, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Monitor } from "../../src/cli/monitor.ts";
import { Health } from "../../src/base/health.ts";
import { NotPlainAccountError, requirePlainAccount } from "../../src/parties/role/plainAccount.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { rejection } from "../../testkit/rejection.ts";

const LIE = { step: 0, element: 1 };

describe("an account that delegates (EIP-7702)", function () {
  const players = usePlayers("test");
  const program = mlpProgram();

  /** Anybody has an authorisation included that a key signed, here for chain 0, which is valid on every chain. */
  async function delegate(key: Hex, address: Address): Promise<void> {
    const { chain } = players();
    const account = privateKeyToAccount(key);
    const { publicClient } = await chain.sessionOf(key);
    const nonce = await publicClient.getTransactionCount({ address: account.address });
    const authorization = await account.signAuthorization({ address, chainId: 0, nonce });
    const stranger = privateKeyToAccount(await chain.newAccount());
    const wallet = createWalletClient({ account: stranger, chain: publicClient.chain, transport: chain.transport });
    const hash = await wallet.sendTransaction({ to: stranger.address, authorizationList: [authorization] });
    await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  }

  /** Clears a delegation as docs/operating.md says: the account's own transaction. */
  async function clear(key: Hex): Promise<void> {
    const { chain } = players();
    const { publicClient } = await chain.sessionOf(key);
    const account = privateKeyToAccount(key);
    const client = createWalletClient({ account, chain: publicClient.chain, transport: chain.transport });
    const authorization = await client.signAuthorization({ contractAddress: zeroAddress, executor: "self" });
    const hash = await client.sendTransaction({ to: account.address, authorizationList: [authorization] });
    await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  }

  /** What a role is given to be watched: its log from warnings on, rounds that have passed, and its monitor. */
  async function watched() {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
    const log = pino({ level: "warn" }, { write });
    const health = new Health(log);
    const monitor = new Monitor(health, 1_000);
    const base = `http://127.0.0.1:${await monitor.listen(0)}`;
    let rounds = 0;
    const onRound = (outcome: "done" | "failed"): void => {
      rounds++;
      monitor.onRound(outcome);
    };
    const someRounds = async (): Promise<void> => {
      for (const end = rounds + 10; rounds < end;) await sleep(10);
    };
    const get = async (path: string) => {
      const response = await fetch(base + path);
      return { status: response.status, text: await response.text() };
    };
    const options = { log, health, onRound };
    return { options, lines, someRounds, get, close: () => monitor.close() };
  }

  it("worker_claimsNoMore_saysWhatToDo_isNotReady_andGoesOnWhenTheDelegationIsGone", async function () {
    const key = await players().workerKey();
    const { options, lines, someRounds, get, close } = await watched();
    const worker = await players().startWorker(key, program, reference(), options);
    await someRounds();
    expect((await get("/readyz")).status).to.equal(200);
    await delegate(key, (await players().chain.sessionOf(key)).deployment.vault);
    await someRounds();
    const { jobId } = await players().post(program, [mlpInput(1)]);
    await someRounds();
    expect(worker.inbox.all.map(({ kind }) => kind)).to.deep.equal([]);
    expect(lines, JSON.stringify(lines)).to.have.length(1);
    expect(lines[0]).to.include({ level: 50, code: "NOT_PLAIN_ACCOUNT" });
    expect(lines[0]!.reason).to.contain("EIP-7702").and.contain("authorisation of this key to the zero address");
    const { status, text } = await get("/readyz");
    expect([status, text]).to.satisfy(([s, t]: [number, string]) => s === 503 && t.includes("delegates to 0x"));
    expect((await get("/metrics")).text).to.contain('refute_condition{name="account"} 0');
    const session = await players().chain.sessionOf(key);
    expect(await rejection(requirePlainAccount(session))).to.be.instanceOf(NotPlainAccountError);
    await clear(key);
    await first(worker, "submitted", (event) => event.jobId === jobId);
    expect((await get("/readyz")).status).to.equal(200);
    expect((await get("/metrics")).text).to.contain('refute_condition{name="account"} 1');
    await worker.stop();
    await close();
  });

  it("watcher_reportsTheLie_opensNoGame_andOpensOneWhenTheDelegationIsGone", async function () {
    const key = await players().watcherKey();
    const { options, lines, someRounds, close } = await watched();
    const watcher = await players().startWatcher(key, program, reference(), options);
    await someRounds();
    await delegate(key, (await players().chain.sessionOf(key)).deployment.vault);
    await someRounds();
    await players().post(program, [mlpInput(2)]);
    const liar = await players().startWorker(await players().workerKey(), program, reference(LIE));
    await first(watcher, "differs");
    await someRounds();
    expect(watcher.inbox.all.map(({ kind }) => kind)).to.deep.equal(["differs"]);
    expect(lines.filter(({ level }) => level === 50)).to.have.length(1);
    expect(lines[0]).to.include({ code: "NOT_PLAIN_ACCOUNT", msg: "not ready: account" });
    expect(lines[0]!.reason).to.contain("cannot open games: ");
    await clear(key);
    await first(watcher, "opened");
    await liar.stop();
    await watcher.stop();
    await close();
  });
});
