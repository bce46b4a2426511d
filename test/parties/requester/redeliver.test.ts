import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { custom, parseAbi, parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { ContractRevertError, RpcUnavailableError } from "../../../src/chain/errors.ts";
import { deposit } from "../../../src/chain/market/deposit.ts";
import { openSession, type Session } from "../../../src/chain/market/session.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { JobUntakenError, RedeliveryError } from "../../../src/parties/requester/errors.ts";
import { estimateFee } from "../../../src/parties/requester/estimateFee.ts";
import { jobRequest, postJob } from "../../../src/parties/requester/postJob.ts";
import { redeliver } from "../../../src/parties/requester/redeliver.ts";
import { jobProgress, jobState, waitForResult } from "../../../src/parties/requester/result.ts";
import { jobMarketAbi } from "../../../src/chain/abi/jobMarket.ts";
import { postedJob } from "../../../src/chain/clients/jobMarket.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { rejection } from "../../../testkit/rejection.ts";

const consumerAbi = parseAbi(["function setBehaviour(uint8 behaviour)", "function results() view returns (uint256)"]);
const [TAKE, REVERT] = [0, 1];

describe("results that end otherwise than well", function () {
  const program = mlpProgram();
  const description = describeProgram(program);
  const players = usePlayers("suite");

  /** A delivered job of a contract whose callback behaves in one way. */
  async function deliveredTo(behaviour: number): Promise<{ session: Session; address: Hex; jobId: Hex }> {
    const { chain } = players();
    const address = await chain.deploy("ScriptedRequester", [chain.market]);
    const session = await chain.newSession(parseEther("1"));
    await session.sender.send({ address, abi: consumerAbi, functionName: "setBehaviour", args: [behaviour] });
    await deposit(session, parseEther("0.2"), address);
    const terms = { fee: parseEther("0.2"), window: 3_600, claimSeconds: 1_800, callbackGas: 200_000 };
    const request = jobRequest(description, [mlpInput(1)], { ...terms, deadline: (await chain.now()) + 86_400n });
    const { jobId } = postedJob(
      await session.sender.send({ address, abi: jobMarketAbi, functionName: "post", args: [request] }),
    );
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    while ((await jobState(session, jobId)).status !== "submitted") await sleep(30);
    await chain.advance(3_700);
    await waitForResult(session, jobId, { intervalMs: 20 });
    await worker.stop();
    return { session, address, jobId };
  }

  it("failedCallback_isSaid_andRepeatedByAnybody_onceItsContractTakesIt", async function () {
    const { session, address, jobId } = await deliveredTo(REVERT);
    const { outputs, callbacks } = await waitForResult(session, jobId);
    expect([outputs.size, callbacks]).to.deep.equal([1, { made: [], failed: [0] }]);
    const state = await jobState(session, jobId);
    expect([state.status, state.callbacks]).to.deep.equal(["finalised", callbacks]);

    const sent = await session.publicClient.getTransactionCount({ address: session.sender.address });
    const refusal = await rejection(redeliver(session, jobId));
    expect(refusal).to.be.instanceOf(ContractRevertError);
    expect(refusal.message).to.match(/^onResult is refused/);
    expect(await session.publicClient.getTransactionCount({ address: session.sender.address })).to.equal(sent);

    await session.sender.send({ address, abi: consumerAbi, functionName: "setBehaviour", args: [TAKE] });
    const anybody = await players().chain.newSession();
    expect(await redeliver(anybody, jobId)).to.deep.equal({ made: [0], failed: [] });
    const results = { address, abi: consumerAbi, functionName: "results" } as const;
    expect(await session.publicClient.readContract(results)).to.equal(1n);
    expect(await jobProgress(session, jobId)).to.have.property("status", "complete");
    expect((await waitForResult(session, jobId)).callbacks).to.deep.equal({ made: [0], failed: [] });
    const again = await rejection(redeliver(session, jobId));
    expect(again).to.be.instanceOf(RedeliveryError);
    expect(again.message).to.contain("every delivered output was taken");
  });

  it("jobWithoutACallback_hasNoneToRepeat", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(2)]);
    expect((await jobState(requester, jobId)).callbacks).to.deep.equal({ made: [], failed: [] });
    const error = await rejection(redeliver(requester, jobId));
    expect(error).to.be.instanceOf(RedeliveryError);
    expect(error.message).to.contain("it has no callback");
  });

  it("jobThatNobodyTookInTime_endsTheWait_andItsFeeComesBack", async function () {
    const { chain } = players();
    const deadline = (await chain.now()) + 3_600n;
    const { requester, jobId, job } = await players().post(program, [mlpInput(3)], { deadline });
    const said: string[] = [];
    const options = { intervalMs: 10, onPhase: (phase: string) => void said.push(phase) };
    const waiting = rejection(waitForResult(requester, jobId, options));
    while (said.length === 0) await sleep(10);
    await chain.advance(1_900);
    const error = await waiting;
    expect(error).to.be.instanceOf(JobUntakenError);
    expect(error.message).to.match(/nobody claimed it in time.*cancel it/);
    expect(said).to.deep.equal(["open: no worker has claimed it yet"]);
    await requester.market.cancel(job);
    expect(await rejection(waitForResult(requester, jobId))).to.have.property("code", "JOB_CLOSED");
  });

  it("withoutANode_everyCallFailsWithTheSameCode", async function () {
    const { chain } = players();
    let isDown = false;
    const request = (call: { method: string; params?: unknown[] }): Promise<unknown> =>
      isDown ? Promise.reject(new RpcUnavailableError("no node today")) : chain.provider.request(call);
    const endpoint = { transport: custom({ request }, { retryCount: 0 }) };
    const account = privateKeyToAccount(generatePrivateKey());
    const session = await openSession({ endpoint, chainId: chain.chainId, market: chain.market, account });
    const terms = { fee: 1n, window: 3_600, claimSeconds: 60, deadline: (await chain.now()) + 3_600n };
    const jobId: Hex = `0x${"12".repeat(32)}`;
    isDown = true;
    const calls: Record<string, Promise<unknown>> = {
      deposit: deposit(session, 1n),
      post: postJob(session, description, [mlpInput(1)], terms),
      estimate: estimateFee(session, description, terms),
      progress: jobProgress(session, jobId),
      state: jobState(session, jobId),
      redeliver: redeliver(session, jobId),
      credit: session.vault.accountOf(account.address),
      time: session.publicClient.getBlock(),
      balance: session.publicClient.getBalance({ address: account.address }),
      job: session.market.jobOf(jobId),
    };
    const codes = Object.entries(calls).map(async ([name, call]) => [name, (await rejection(call)) as unknown]);
    for (const [name, error] of await Promise.all(codes))
      expect(error, name as string).to.be.instanceOf(RpcUnavailableError);
  });
});
