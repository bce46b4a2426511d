import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { custom, encodeFunctionData, parseEther, size, type Hex, type TransactionReceipt } from "viem";
import { jobMarketAbi } from "../../../src/chain/abi/jobMarket.ts";
import { connect } from "../../../src/chain/connect.ts";
import { JobMarket } from "../../../src/chain/clients/jobMarket.ts";
import {
  ContractRevertError,
  RpcUnavailableError,
  ShortOfFundsError,
  TransactionRevertedError,
} from "../../../src/chain/errors.ts";
import { inputsOf } from "../../../src/chain/market/jobInputs.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { readDeployment } from "../../../src/chain/market/deployment.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { compile } from "../../../src/compiler/compile.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { readHeader } from "../../../src/program/header.ts";
import { DEFAULT_STEP_BYTES, HEADER_BYTES } from "../../../src/program/limits.ts";
import { ENVELOPE_BYTES } from "../../../src/program/proofBytes.ts";
import type { Program } from "../../../src/program/types.ts";
import { deposit } from "../../../src/chain/market/deposit.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import {
  FeeTooLowError,
  JobClosedError,
  JobIncompleteError,
  JobInputError,
  JobProgramError,
  JobTermsError,
  JobUnknownError,
} from "../../../src/parties/requester/errors.ts";
import { minWindow, postJob } from "../../../src/parties/requester/postJob.ts";
import { PART_BYTES, requireServed } from "../../../src/parties/requester/jobLimits.ts";
import { throughOutages } from "../../../src/parties/requester/outages.ts";
import { jobProgress, jobState, waitForResult } from "../../../src/parties/requester/result.ts";
import { mlpInput, mlpProgram } from "../../../testkit/models/mlp.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";
import { reference } from "../../../testkit/players/players.ts";
import { rejection } from "../../../testkit/rejection.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";

describe("postJob and waitForResult", function () {
  const program = mlpProgram();
  const players = usePlayers("suite");

  it("largeInputs_arePublishedInParts_andReadBackWhole", async function () {
    const count = 80_000;
    const tensor = (name: string, size: number) => ({ name, dtype: DType.float32, shape: [size] });
    const bytes = buildModel({
      inputs: [tensor("a", count), tensor("b", 1)],
      outputs: [tensor("y", count)],
      nodes: [{ op: "Add", inputs: ["a", "b"], outputs: ["y"] }],
    });
    const large = knownProgram(compile(readModel(bytes), { shapes: {} }));
    const inputs = [count, 1].map((size) => Uint8Array.from({ length: size * 4 }, (_, k) => (k % 4 === 3 ? 62 : k)));
    const { requester, jobId } = await players().post(large, inputs);
    const { history } = await followMarket(requester)();
    const job = history.jobs.get(jobId)!;
    expect([...job.parts].map(([input, parts]) => [input, parts.size])).to.deep.equal([
      [0, 5],
      [1, 1],
    ]);
    expect(inputs.map((input, k) => Buffer.concat(inputsOf(job)!.tensors(k)).equals(input))).to.deep.equal([
      true,
      true,
    ]);
    expect(await jobProgress(requester, jobId)).to.have.property("status", "open");
  });

  describe("parts of an input", function () {
    const count = 40_000;
    const bytes = buildModel({
      inputs: [{ name: "a", dtype: DType.float32, shape: [count] }],
      outputs: [{ name: "y", dtype: DType.float32, shape: [count] }],
      nodes: [{ op: "Neg", inputs: ["a"], outputs: ["y"] }],
    });
    const large = knownProgram(compile(readModel(bytes), { shapes: {} }));
    const input = new Uint8Array(4 * count);

    /** Posts a job by a market whose `publishInput` is another one. */
    async function postWith(publish: (send: () => Promise<TransactionReceipt>, k: number) => Promise<unknown>) {
      const requester = await players().chain.newSession(parseEther("1"));
      await deposit(requester, parseEther("0.1"));
      let calls = 0;
      class Market extends JobMarket {
        override async publishInput(...args: Parameters<JobMarket["publishInput"]>): Promise<TransactionReceipt> {
          return (await publish(() => super.publishInput(...args), calls++)) as TransactionReceipt;
        }
      }
      const session = { ...requester, market: new Market(requester.deployment.market, requester) };
      const deadline = (await players().chain.now()) + 86_400n;
      const terms = { fee: parseEther("0.1"), window: 3_600, claimSeconds: 1_800, deadline };
      return { requester, posted: postJob(session, describeProgram(large), [input], terms) };
    }
    const statusAfter = async (publish: Parameters<typeof postWith>[0]): Promise<string> => {
      const { requester, posted } = await postWith(publish);
      return (await jobProgress(requester, (await posted).jobId)).status;
    };

    it("thatAStrangerPublishesFirst_areDone", async function () {
      expect(await statusAfter(async (send) => (await send(), send()))).to.equal("open");
      const overtaken = async (send: () => Promise<unknown>, k: number): Promise<unknown> => {
        await send();
        if (k === 0) throw new TransactionRevertedError("publishInput", `0x${"00".repeat(32)}`);
        return undefined;
      };
      expect(await statusAfter(overtaken)).to.equal("open");
    });

    it("thatFailForGood_nameTheJob_whoseFeeComesBackIfItIsCancelled", async function () {
      const { requester, posted } = await postWith(() => Promise.reject(new ContractRevertError("f", "Other", [])));
      const error = await rejection(posted);
      expect(error).to.be.instanceOf(JobIncompleteError);
      const [jobId] = /0x[0-9a-f]{64}/.exec(error.message) as unknown as [Hex];
      const { history } = await followMarket(requester)();
      await requester.market.cancel(history.jobs.get(jobId)!.job);
      expect((await requester.vault.accountOf(requester.sender.address)).credit).to.equal(parseEther("0.1"));
    });
  });

  it("inputsThatANodeTellsInPlaceOfTheJobs_areNotRead", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(9)]);
    const job = (await followMarket(requester)()).history.jobs.get(jobId)!;
    const [forged, other] = [mlpInput(10), tensorRoot(mlpInput(10))];
    const parts = new Map([[0, new Map([[0, toHex(forged)]])]]);
    expect(inputsOf(job)!.tensors(0)).to.deep.equal([mlpInput(9)]);
    for (const lie of [{ parts }, { parts, inputRoots: [other] }, { inputRoots: [] }, { inputRoots: [other, other] }])
      expect(inputsOf({ ...job, ...lie }), JSON.stringify(lie.inputRoots)).to.equal(undefined);
  });

  it("inputsThatDoNotFitTheProgram_areRefusedBeforeAnythingIsSent", async function () {
    expect(await rejection(players().post(program, []))).to.be.instanceOf(JobInputError);
    const error = await rejection(players().post(program, [new Uint8Array(8)]));
    expect(error).to.be.instanceOf(JobInputError);
    expect(error.message).to.contain('input "x" has 8 bytes, expected 256 (64 x float32)');
  });

  it("largestPost_ofManyInputs_fitsADeploymentsTransactions", function () {
    // As many inputs as a header has room for, all but one of a byte, 64 KiB together.
    const sizes = [...new Array<number>(142).fill(1), PART_BYTES - 142];
    const ones = (size: number): Hex => `0x${"ff".repeat(size)}`;
    const request = {
      program: { header: ones(HEADER_BYTES.max), stepsRoot: ones(32), checkpointsRoot: ones(32) },
      ...{ inputRoots: sizes.map(() => ones(32)), inputs: sizes.map(ones), fee: 1n, window: 1, claimSeconds: 1 },
      ...{
        deadline: 1n,
        callbackGas: 0,
        maxOutputBytes: PART_BYTES,
        rootOnly: false,
        terms: [],
        answer: true,
        salt: ones(32),
      },
      ...{ items: 2 ** 16, firstItem: 2 ** 31 },
    };
    const data = encodeFunctionData({ abi: jobMarketAbi, functionName: "post", args: [request] });
    expect(size(data) + ENVELOPE_BYTES).to.be.at.most(DEFAULT_STEP_BYTES);
  });

  it("programBeyondTheDeployment_isRefusedBeforeAnythingIsSent_withBothFigures", async function () {
    const { model } = program;
    const refusal = async (change: Partial<Program>, outputs = model.outputs): Promise<string> => {
      const larger = knownProgram({ ...model, outputs, program: { ...model.program, ...change } });
      const error = await rejection(players().post(larger, [mlpInput(5)]));
      expect(error).to.be.instanceOf(JobProgramError);
      return error.message;
    };
    expect(await refusal({ maxStepBytes: 90_001 }))
      .to.contain("90001 bytes")
      .and.contain("--step-bytes 90000");
    expect(await refusal({ maxStepGas: 12_000_001 }))
      .to.contain("12000001 gas")
      .and.contain("stepGasLimit 12000000");
    const outputs = new Array<number>(65).fill(0);
    expect(
      await refusal(
        { outputs },
        outputs.map((k) => model.outputs[k]!),
      ),
    )
      .to.contain("65 outputs")
      .and.contain("64");
    const inputs = new Array<Program["inputs"][number]>(150).fill({ dtype: DType.float32, count: 64 });
    const names = inputs.map((_, k) => ({ ...model.inputs[0]!, name: `x${k}` }));
    const many = knownProgram({ ...model, inputs: names, program: { ...model.program, inputs } });
    const error = await rejection(players().post(many, new Array<Uint8Array>(150).fill(mlpInput(5))));
    expect(error.message).to.match(/header has \d+ bytes.*2048/);
  });

  it("workBeyondTheDeployment_isRefused", function () {
    const limits = { maxStepGas: 12_000_000, maxStepBytes: 90_000, maxWork: 10n };
    const { header } = program.commitment;
    expect(() => requireServed(limits, readHeader(header), header.length)).to.throw(
      JobProgramError,
      /work is \d+ units.*up to 10:/,
    );
  });

  it("outputLimitBeyondTheMarkets_isRefused_andTheLargestIsTaken", async function () {
    const error = await rejection(players().post(program, [mlpInput(6)], { maxOutputBytes: 65_537 }));
    expect(error).to.be.instanceOf(JobTermsError);
    expect(error.message).to.contain("65537").and.contain("65536");
    await players().post(program, [mlpInput(6)], { maxOutputBytes: 65_536 });
  });

  it("feeBeyondTheCredit_isRefusedByTheVault", async function () {
    const error = await rejection(players().post(program, [mlpInput(1)], { fee: 10n ** 19n }));
    expect(error).to.be.instanceOf(ShortOfFundsError);
    expect(error.message).to.match(/is below the fee of 10: call deposit\(session, fee\) first/);
    expect(error.cause).to.be.instanceOf(ContractRevertError).with.property("errorName", "InsufficientCredit");
  });

  it("termsByWhichNothingArrives_areRefusedBeforeAnythingIsSent", async function () {
    const { count } = readHeader(program.commitment.header).outputs[0]!;
    const refusal = async (terms: object): Promise<string> => {
      const error = await rejection(players().post(program, [mlpInput(1)], terms));
      expect(error).to.be.instanceOf(JobTermsError);
      return error.message;
    };
    const small = { maxOutputBytes: 4 * count - 1 };
    expect(await refusal(small))
      .to.contain(`delivers no output`)
      .and.contain(`${4 * count} bytes`);
    expect(await refusal({ maxOutputBytes: 0, callbackGas: 100_000 })).to.contain("no callback comes");
    // The account that posts is no contract.
    expect(await refusal({ callbackGas: 100_000 })).to.match(/is no contract: leave out callbackGas/);
    await players().post(program, [mlpInput(1)], { maxOutputBytes: 4 * count });
    await players().post(program, [mlpInput(1)], { maxOutputBytes: 0 });
  });

  it("depositAboveTheTokens_failsWithTheTokensOwnError", async function () {
    const { asset, vault, deployment, sender } = await players().chain.newSession(5n);
    await asset.approve(deployment.vault, 6n);
    const error = await rejection(vault.deposit(sender.address, 6n));
    expect(error).to.be.instanceOf(ContractRevertError);
    expect(error.message).to.match(/ERC20InsufficientBalance\(sender 0x[0-9a-fA-F]{40}, balance 5, needed 6\)/);
  });

  it("feeOfNothing_isRefusedBeforeAnythingIsSent", async function () {
    const session = await players().chain.newSession();
    const terms = { fee: 1n / 2n, window: 3_600, claimSeconds: 60, deadline: (await players().chain.now()) + 3_600n };
    const error = await rejection(postJob(session, describeProgram(program), [mlpInput(1)], terms));
    expect(error).to.be.instanceOf(FeeTooLowError);
    expect(error.message).to.contain("fee is 0");
    expect(await session.publicClient.getTransactionCount({ address: session.sender.address })).to.equal(0);
  });

  it("windowBelowTheLeast_isRefused_andTheLeastIsTaken", async function () {
    const session = await players().chain.newSession();
    const minimum = minWindow(session, { work: "1000" });
    const error = await rejection(players().post(program, [mlpInput(1)], { window: minimum - 1 }));
    expect(error).to.be.instanceOf(JobTermsError);
    expect(error.message).to.contain(`takes ${minimum} to `);
    await players().post(program, [mlpInput(1)], { window: minimum });
  });

  it("termThatIsNoNumberOfItsKind_isRefusedByName", async function () {
    const refusal = async (terms: object): Promise<string> => {
      const error = await rejection(players().post(program, [mlpInput(1)], terms));
      expect(error).to.be.instanceOf(JobTermsError);
      return error.message;
    };
    expect(await refusal({ fee: 0.05 })).to.match(/^fee 0\.05: expected a whole number from 0/);
    expect(await refusal({ fee: 2n ** 128n })).to.match(/^fee 3402/);
    expect(await refusal({ claimSeconds: 0 })).to.match(
      /^claimSeconds 0: expected a whole number from 1 to 4294967295/,
    );
    expect(await refusal({ claimSeconds: 1.5 })).to.match(/^claimSeconds 1\.5/);
    expect(await refusal({ deadline: 2n ** 64n })).to.match(/^deadline 1844/);
    expect(await refusal({ callbackGas: 2_000_001 })).to.match(/^callbackGas 2000001: .* 2000000$/);
  });

  it("depositOfMoreThanThereIs_isRefusedBeforeAnythingIsSent", async function () {
    const session = await players().chain.newSession(parseEther("1"));
    const sent = await session.publicClient.getTransactionCount({ address: session.sender.address });
    const error = await rejection(deposit(session, parseEther("3")));
    expect(error).to.be.instanceOf(ShortOfFundsError);
    expect(error.message).to.match(/holds 1 of the stake asset 0x\w+, not 3: send it 2 more/);
    expect(await session.publicClient.getTransactionCount({ address: session.sender.address })).to.equal(sent);
  });

  it("reclaimedJob_endsTheWait_withItsError", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(4)], { fee: parseEther("0.2") });
    const worker = await players().startWorker(await players().workerKey(), program, reference());
    while ((await jobState(requester, jobId)).status !== "submitted") await sleep(30);
    await worker.stop();
    await players().chain.advance(3_700);
    const { claim } = (await followMarket(requester)()).history.jobs.get(jobId)!.claims[0]!;
    await requester.market.finalise(claim);
    await players().chain.advance(8 * 86_400);
    await requester.market.reclaim(claim);
    const error = await rejection(waitForResult(requester, jobId, { signal: AbortSignal.timeout(100_000) }));
    expect(error).to.be.instanceOf(JobClosedError);
    expect(error.message).to.match(/not delivered in time, and its fee was returned/);
  });

  it("cancelledJob_endsTheWait_withItsError", async function () {
    const { requester, jobId, job } = await players().post(program, [mlpInput(2)]);
    const waiting = rejection(waitForResult(requester, jobId, { intervalMs: 10 }));
    const { market } = requester.deployment;
    await requester.sender.send({ address: market, abi: jobMarketAbi, functionName: "cancel", args: [job] });
    expect(await waiting).to.be.instanceOf(JobClosedError);
    expect(await jobProgress(requester, jobId)).to.have.property("status", "closed");
  });

  it("unknownJob_isRefused_andAWaitCanBeAborted", async function () {
    const session = await players().chain.newSession();
    const unknown = `0x${"12".repeat(32)}` as const;
    expect(await rejection(waitForResult(session, unknown))).to.be.instanceOf(JobUnknownError);
    const { requester, jobId } = await players().post(program, [mlpInput(3)]);
    const signal = AbortSignal.timeout(30);
    expect(await rejection(waitForResult(requester, jobId, { signal, intervalMs: 10 }))).to.have.property("name");
  });

  it("result_isReadFromTheChainAlone_asFarAsItIs_andAWaitGoesOnThroughAnOutage", async function () {
    const inputs = [mlpInput(8)];
    const { requester, jobId } = await players().post(program, inputs, { fee: parseEther("0.2") });
    const { programRoot } = program.commitment;
    const open = { form: "trace", status: "open", programRoot, items: 1, inputs, claims: [], outputs: new Map() };
    expect(await jobState(requester, jobId)).to.deep.equal({ ...open, callbacks: { made: [], failed: [] } });
    const key = await players().workerKey();
    const worker = await players().startWorker(key, program, reference());
    let submitted = await jobState(requester, jobId);
    for (; submitted.status !== "submitted"; submitted = await jobState(requester, jobId)) await sleep(30);
    expect(submitted.claims).to.have.length(1);
    expect(submitted.claims[0]).to.include({ refuted: false, finalised: false, gamesOpen: 0 });
    let failures = 3;
    const { provider, chainId, market } = players().chain;
    const request = (call: { method: string; params?: unknown[] }): Promise<unknown> =>
      call.method === "eth_getLogs" && failures-- > 0
        ? Promise.reject(new RpcUnavailableError("no node today"))
        : provider.request(call);
    const client = { publicClient: await connect({ transport: custom({ request }, { retryCount: 0 }) }, chainId) };
    const reader = { ...client, deployment: await readDeployment(client.publicClient, market), fromBlock: 0n };
    const said: string[] = [];
    const waiting = waitForResult(reader, jobId, {
      intervalMs: 20,
      onPhase: (phase) => void said.push(phase),
      onOutage: (error) => void said.push(error === undefined ? "back" : error.code),
    });
    await players().chain.advance(3_700);
    const { outputs } = await waiting;
    await worker.stop();
    expect(outputs.get(0)).to.have.length(program.model.program.steps.at(-1)!.count * 4);
    expect(said.at(-1)).to.match(/^(submitted by|final)/);
    const state = await jobState(requester, jobId);
    expect(state.claims[0]).to.include({ finalised: true });
    expect(state.outputs).to.deep.equal(outputs);
  });

  it("outage_isReportedOnce_andItsEnd_andOtherErrorsAreThrown", async function () {
    const said: (string | undefined)[] = [];
    let failures = 3;
    const action = (): Promise<string> =>
      failures-- > 0 ? Promise.reject(new RpcUnavailableError("down")) : Promise.resolve("up");
    const onOutage = (error?: Error): void => void said.push(error?.message);
    expect(await throughOutages(action, { intervalMs: 1, onOutage })).to.equal("up");
    expect(said).to.deep.equal(["down", undefined]);
    const lasting = throughOutages(() => Promise.reject(new RpcUnavailableError("for good")), {
      intervalMs: 1,
      maxMs: 20,
    });
    expect((await rejection(lasting)).message).to.equal("for good");
    const defect = new TypeError("a defect");
    expect(await rejection(throughOutages(() => Promise.reject(defect), { intervalMs: 1 }))).to.equal(defect);
  });

  it("jobNobodyMayClaim_isLeftAlone", async function () {
    const { requester, jobId } = await players().post(program, [mlpInput(4)], { fee: 1n });
    const worker = await players().startWorker(await players().workerKey(), program, reference(), {
      policy: { minFee: 10n ** 18n, marginSeconds: 0 },
    });
    await new Promise((resolve) => setTimeout(resolve, 150));
    await worker.stop();
    expect(worker.inbox.all).to.deep.equal([]);
    expect(await jobProgress(requester, jobId)).to.have.property("status", "open");
  });
});
