import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { custom, erc20Abi, http, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { jobMarketAbi } from "../../../src/chain/abi/jobMarket.ts";
import { connect } from "../../../src/chain/connect.ts";
import {
  ContractRevertError,
  InsufficientGasFundsError,
  NoBaseFeeError,
  NotDeployedError,
  OtherSemanticsError,
  RpcUnavailableError,
  WrongChainError,
} from "../../../src/chain/errors.ts";
import { readDeployment } from "../../../src/chain/market/deployment.ts";
import { jobIdOf } from "../../../src/chain/market/ids.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { disputeGameAbi } from "../../../src/chain/abi/disputeGame.ts";
import { followMarket, openSession } from "../../../src/chain/market/session.ts";
import { exitStatusOf } from "../../../src/cli/exitStatus.ts";
import { startLocalChain, type LocalChain } from "../../../src/deploy/demo/localChain.ts";
import { RefuteError } from "../../../src/base/errors.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { first, Players, reference } from "../../../testkit/players/players.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { serveRpc } from "../../../testkit/nodes/rpcServer.ts";

describe("sessions", function () {
  let players: Players;
  let chain: LocalChain;
  before(async () => {
    players = await Players.create();
    ({ chain } = players);
  });
  after(() => chain.close());

  it("nodeThatIsDown_isARetryableError", async function () {
    // Port 1 is reserved; nothing listens there.
    const transport = http("http://127.0.0.1:1", { retryCount: 0 });
    const error = await rejection(connect({ transport }, 31_337));
    expect(error).to.be.instanceOf(RpcUnavailableError);
    expect((error as unknown as RefuteError).retryable).to.equal(true);
  });

  it("claimWhoseJobIsOlderThanTheGivenBlock_isReadFromFurtherBack", async function () {
    const { jobId } = await players.post(mlpProgram(), [mlpInput(1)]);
    const reader = await chain.newSession();
    const posted = await reader.publicClient.getBlockNumber();
    const worker = await players.startWorker(await players.workerKey(), mlpProgram(), reference());
    await first(worker, "submitted");
    await worker.stop();
    const { publicClient, deployment } = reader;
    const { history } = await followMarket({ publicClient, deployment, fromBlock: posted + 1n })();
    expect(history.jobs.get(jobId)?.claims).to.have.length(1);
    expect(history.unread.size).to.equal(0);
    // Where the block is proven, the job's log is missing in the node's answers alone: it comes with the next ones.
    const proven = { publicClient, deployment, fromBlock: posted + 1n, isProven: true };
    const { unread } = (await followMarket(proven)()).history;
    expect(unread.size).to.equal(1);
  });

  it("chainWithoutABaseFee_isRefusedByName", async function () {
    const transport = custom({
      request: async (call: { method: string }) => {
        const answer: unknown = await chain.provider.request(call);
        if (call.method !== "eth_getBlockByNumber") return answer;
        return { ...(answer as object), baseFeePerGas: undefined };
      },
    });
    const account = privateKeyToAccount(generatePrivateKey());
    const options = { endpoint: { transport }, chainId: chain.chainId, market: chain.market, account };
    const error = await rejection(openSession(options));
    expect(error).to.be.instanceOf(NoBaseFeeError);
    expect(exitStatusOf(error)).to.equal(1);
  });

  it("busyNode_isNoMissingMarket", async function () {
    let calls = 0;
    const request = (call: { method: string }): Promise<unknown> =>
      call.method === "eth_call" && calls++ < 2
        ? Promise.reject(Object.assign(new Error("Internal error"), { code: -32_603 }))
        : chain.provider.request(call);
    const transport = custom({ request });
    const publicClient = await connect({ transport }, chain.chainId);
    expect((await readDeployment(publicClient, chain.market)).chainId).to.equal(chain.chainId);
    expect(calls).to.equal(3);
  });

  it("nodeThatGoesDownLater_isARetryableError_andTheNextRoundGoesOn", async function () {
    const rpc = await serveRpc(chain.provider);
    const transport = http(rpc.url, { retryCount: 0 });
    const publicClient = await connect({ transport }, chain.chainId);
    const deployment = await readDeployment(publicClient, chain.market);
    const follow = followMarket({ publicClient, deployment, fromBlock: 0n });
    await follow();
    await rpc.close();
    expect(await rejection(follow())).to.be.instanceOf(RpcUnavailableError);
  });

  it("anotherChainThanAskedFor_isRefused", async function () {
    const error = await rejection(connect({ transport: chain.transport }, 1));
    expect(error).to.be.instanceOf(WrongChainError);
    expect(error.message).to.contain("serves chain 31337, expected chain 1");
  });

  it("addressWithoutAMarket_isRefused", async function () {
    const publicClient = await connect({ transport: chain.transport }, chain.chainId);
    const session = await chain.newSession();
    expect(await rejection(readDeployment(publicClient, zeroAddress))).to.be.instanceOf(NotDeployedError);
    const error = await rejection(readDeployment(publicClient, session.deployment.asset));
    expect(error).to.be.instanceOf(NotDeployedError);
    expect(error.message).to.contain("no job market");
  });

  it("marketOfOtherSemantics_isRefused_withBothVersions", async function () {
    const publicClient = await connect({ transport: chain.transport }, chain.chainId);
    const error = await rejection(readDeployment(publicClient, await chain.deploy("FutureMarket", [])));
    expect(error).to.be.instanceOf(OtherSemanticsError);
    expect(error.message).to.contain("semantics version 3, this release of Refute plays version 2");
  });

  it("contractsRefusal_isDecodedWithItsArguments", async function () {
    const session = await chain.newSession();
    const error = await rejection(session.vault.stake(1n));
    expect(error).to.be.instanceOf(ContractRevertError);
    expect(error).to.include({ functionName: "stake", errorName: "NotLive" });
    expect(error.args).to.deep.equal([session.sender.address]);
  });

  it("senderWithoutEther_isToldSo", async function () {
    const { sender, deployment } = await chain.sessionOf(generatePrivateKey());
    const call = { address: deployment.asset, abi: jobMarketAbi, functionName: "claim" } as const;
    const { job } = await players.post(mlpProgram(), [mlpInput(1)]);
    const error = await rejection(sender.send({ ...call, address: deployment.market, args: [job] }));
    expect(error).to.satisfy((e: Error) => e instanceof InsufficientGasFundsError || e instanceof ContractRevertError);
  });

  it("jobIdOf_equalsTheContracts", async function () {
    const { requester, jobId, job } = await players.post(mlpProgram(), [mlpInput(2)]);
    expect(jobIdOf(job, chain.chainId, requester.deployment.market)).to.equal(jobId);
  });

  it("hopOf_equalsTheContracts", async function () {
    const { publicClient, deployment } = await chain.newSession();
    const game = { address: deployment.game, abi: disputeGameAbi } as const;
    for (let depth = 0; depth <= 40; depth++) {
      const hop = await publicClient.readContract({ ...game, functionName: "hopOf", args: [depth] });
      expect(hopOf(depth, deployment.parameters.arityBits)).to.equal(hop);
    }
  });

  it("followedHistory_equalsOneReadAtOnce_alsoAfterAReorganisation", async function () {
    const session = await chain.newSession();
    const follow = followMarket(session);
    await players.post(mlpProgram(), [mlpInput(11)]);
    await follow();
    const snapshot = await chain.provider.request({ method: "evm_snapshot" });
    await players.post(mlpProgram(), [mlpInput(12)]);
    const forgotten = (await follow()).history.jobs.size;
    await chain.provider.request({ method: "evm_revert", params: [snapshot] });
    await players.post(mlpProgram(), [mlpInput(13)]);
    await players.post(mlpProgram(), [mlpInput(14)]);
    const { history } = await follow();
    expect(history).to.deep.equal((await followMarket(session)()).history);
    expect(history.jobs.size).to.equal(forgotten + 1);
  });

  it("overlappingCalls_takeNoEventTwice", async function () {
    const follow = followMarket(await chain.newSession());
    await follow();
    // Another one than that of the open jobs: a worker has stake for two claims.
    const program = mlpProgram(2);
    const worker = await players.startWorker(await players.workerKey(), program, reference());
    const posted = [await players.post(program, [mlpInput(15)]), await players.post(program, [mlpInput(16)])];
    for (const { jobId } of posted)
      await worker.inbox.first(
        "a submission",
        (event): event is WorkerEvent => event.kind === "submitted" && event.jobId === jobId,
      );
    await worker.stop();
    const snapshots = await Promise.all([follow(), follow(), follow()]);
    for (const { history } of snapshots)
      expect(posted.map(({ jobId }) => history.jobs.get(jobId)!.claims.length)).to.deep.equal([1, 1]);
  });

  it("concurrentSends_fitOneBlock", async function () {
    const { sender, publicClient, deployment } = await chain.newSession();
    const call = {
      address: deployment.asset,
      abi: erc20Abi,
      functionName: "approve",
      args: [deployment.market, 1n],
    } as const;
    await chain.provider.request({ method: "evm_setAutomine", params: [false] });
    try {
      const sends = [1, 2, 3, 4].map(() => sender.send(call));
      const pending = () => publicClient.getTransactionCount({ address: sender.address, blockTag: "pending" });
      while ((await pending()) < 4) await sleep(10);
      await chain.provider.request({ method: "evm_mine" });
      const blocks = (await Promise.all(sends)).map(({ blockNumber }) => blockNumber);
      expect(new Set(blocks).size).to.equal(1);
    } finally {
      await chain.provider.request({ method: "evm_setAutomine", params: [true] });
    }
  });

  it("concurrentSends_areSentOneAfterTheOther", async function () {
    const { sender, publicClient } = await chain.newSession();
    const to = privateKeyToAccount(generatePrivateKey()).address;
    const { asset } = (await chain.newSession()).deployment;
    const call = { address: asset, abi: erc20Abi, functionName: "approve", args: [to, 1n] } as const;
    const receipts = await Promise.all([1, 2, 3, 4].map(() => sender.send(call)));
    expect(new Set(receipts.map(({ transactionHash }) => transactionHash)).size).to.equal(4);
    expect(await publicClient.getTransactionCount({ address: sender.address })).to.equal(4);
  });
});

describe("startLocalChain", function () {
  it("otherParameters_areDeployed", async function () {
    const chain = await startLocalChain({ baseWindow: 600, penaltyBps: 100 });
    const { deployment } = await chain.newSession();
    await chain.close();
    expect(deployment.parameters).to.include({ baseWindow: 600, penaltyBps: 100 });
  });
});
