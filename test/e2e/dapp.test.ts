import { expect } from "chai";
import { BrowserProvider } from "ethers";
import { createTestClient, createWalletClient, parseEther, type Address, type Hex } from "viem";
import { describe as describeAnswer, readAnswer } from "../../examples/textDirection/readAnswer.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { textDirectionDappAbi } from "../../src/chain/abi/textDirectionDapp.ts";
import type { Session } from "../../src/chain/market/session.ts";
import { TextDirectionDapp } from "../../src/chain/clients/textDirectionDapp.ts";
import { translateError } from "../../src/chain/translateError.ts";
import { ask } from "../../src/deploy/demo/dapp.ts";
import { startLocalChain, type LocalChain } from "../../src/deploy/demo/localChain.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { rejection } from "../../testkit/rejection.ts";
import { Prng } from "../../testkit/random/prng.ts";

const MIN_WINDOW = 3_600;

describe("TextDirectionDapp and its client", function () {
  const program = mlpProgram();
  let chain: LocalChain;
  let requester: Session;
  let dapp: Address;
  let questions = 0;

  before(async () => {
    chain = await startLocalChain();
    requester = await chain.newSession(parseEther("5"));
    dapp = await chain.deploy("TextDirectionDapp", [chain.market, program.model.programRoot, MIN_WINDOW]);
    const client = createTestClient({ mode: "hardhat", transport: chain.transport });
    await client.impersonateAccount({ address: chain.market });
    await client.setBalance({ address: chain.market, value: parseEther("1") });
  });
  after(() => chain.close());

  const newJob = async (asked = program, window = MIN_WINDOW): Promise<Hex> => {
    const question = { fee: parseEther("0.01"), window, claimSeconds: 60, salt: String(questions++) };
    return (await ask(requester, dapp, asked, mlpInput(1), question)).jobId;
  };

  const names = async (attempt: Promise<unknown>) => (await rejection(attempt)).errorName;

  /** What the market would do on delivery: the market's own account calls. */
  const deliver = async (jobId: Hex, data: Uint8Array, output = 0n): Promise<unknown> => {
    const { chain: definition } = requester.publicClient;
    const wallet = createWalletClient({ account: chain.market, chain: definition, transport: chain.transport });
    const args = [jobId, output, `0x${Buffer.from(data).toString("hex")}`] as const;
    return wallet
      .writeContract({ address: dapp, abi: textDirectionDappAbi, functionName: "onResult", args })
      .catch((error: unknown) => {
        throw translateError(error, "onResult");
      });
  };

  const floats = (...values: number[]): Uint8Array => new Uint8Array(new Float32Array(values).buffer);
  const answer = (jobId: Hex) => readAnswer(new BrowserProvider(chain.provider), dapp, jobId);

  it("probabilities_becomePartsPerMillion_roundedDown", async function () {
    const prng = new Prng(5);
    const values = [
      1,
      0,
      2 ** -130,
      1e-6,
      0.5,
      0.9999682,
      ...Array.from({ length: 12 }, () => prng.below(2 ** 24) / 2 ** 24),
    ];
    const jobId = await newJob();
    for (const value of values.map(Math.fround)) {
      await deliver(jobId, floats(value, 0));
      const { known, upright, confidencePpm } = await answer(jobId);
      expect({ known, upright, confidencePpm }).to.deep.equal({
        known: true,
        upright: true,
        confidencePpm: Math.floor(value * 1e6),
      });
    }
  });

  it("theLikelierSide_isTheAnswer_andReadsWell", async function () {
    const jobId = await newJob();
    expect(describeAnswer(await answer(jobId))).to.equal("no answer yet");
    await deliver(jobId, floats(0.25, 0.75));
    expect(describeAnswer(await answer(jobId))).to.equal("upside down, 75.0 %");
    await deliver(jobId, floats(0.99999, 0.00001));
    expect(describeAnswer(await answer(jobId))).to.equal("upright, 99.9 %");
  });

  it("resultsFromAnyoneButTheMarket_areRefused", async function () {
    const call = { address: dapp, abi: textDirectionDappAbi, functionName: "onResult" } as const;
    const error = await rejection(requester.sender.send({ ...call, args: [await newJob(), 0n, "0x0000000000000000"] }));
    expect(error).to.have.property("errorName", "NotMarket");
  });

  it("resultOfAJobNotAskedFor_ofAnotherOutputOrLength_isRefused", async function () {
    const jobId = await newJob();
    expect(await names(deliver(`0x${"12".repeat(32)}`, floats(1, 0)))).to.equal("NotAsked");
    expect(await names(deliver(jobId, floats(1, 0), 1n))).to.equal("WrongOutput");
    expect(await names(deliver(jobId, floats(1)))).to.equal("WrongOutput");
  });

  it("whatIsNoProbability_isRefused", async function () {
    const jobId = await newJob();
    for (const value of [NaN, Infinity, -0.5, 1.0001, -Infinity]) {
      expect((await rejection(deliver(jobId, floats(value, 0)))).errorName).to.equal("NotAProbability");
    }
  });

  it("anotherProgram_orAShorterWindow_isRefused", async function () {
    expect(await names(newJob(mlpProgram(2)))).to.equal("WrongProgram");
    expect(await names(newJob(program, MIN_WINDOW - 1))).to.equal("WindowBelowMinimum");
  });

  it("questionThatNobodyAnswered_refundsItsFee_once", async function () {
    const { publicClient, asset, sender } = requester;
    const jobId = await newJob();
    const [posted] = await publicClient.getContractEvents({
      address: chain.market,
      abi: jobMarketAbi,
      eventName: "JobPosted",
      args: { jobId },
      strict: true,
    });
    const client = new TextDirectionDapp(dapp, requester);
    const had = await asset.balanceOf(sender.address);
    await client.refund(posted!.args.job);
    expect((await asset.balanceOf(sender.address)) - had).to.equal(parseEther("0.01"));
    expect(await names(client.refund(posted!.args.job))).to.equal("NotAsker");
  });
});
