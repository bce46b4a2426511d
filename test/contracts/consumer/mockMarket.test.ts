import { readFileSync } from "node:fs";
import { expect } from "chai";
import { artifacts, network } from "hardhat";
import {
  concat,
  erc20Abi,
  getAddress,
  sha256,
  toFunctionSignature,
  zeroHash,
  type Abi,
  type AbiFunction,
  type Hex,
} from "viem";

const PROGRAM = {
  header: "0x0102",
  stepsRoot: `0x${"11".repeat(32)}`,
  checkpointsRoot: `0x${"22".repeat(32)}`,
} as const;
const ROOT = sha256(concat(["0x00", PROGRAM.header, PROGRAM.stepsRoot, PROGRAM.checkpointsRoot]));
const [FEE, MIN_WINDOW] = [10n ** 18n, 60];
/** 1.5 and -0.25 as an output has them. */
const SCORES = "0x0000c03f000080be";
/** The parts of the mock that the market does not have. */
const OF_TESTS = ["mint", "deliver", "deliverOutput", "jobWithId"];

const REQUEST = {
  ...{ program: PROGRAM, inputRoots: [zeroHash], inputs: ["0x"] as Hex[], items: 1, firstItem: 0, fee: FEE },
  ...{ window: MIN_WINDOW, claimSeconds: 60, deadline: 2n ** 40n, callbackGas: 100_000, maxOutputBytes: 8 },
  ...{ rootOnly: false, answer: false, salt: zeroHash, terms: [] },
};

describe("MockMarket, and the contract of docs/sdk.md", () => {
  async function setUp() {
    const { viem } = await network.create();
    const market = await viem.deployContract("MockMarket");
    const oracle = await viem.deployContract("Oracle", [market.address, ROOT, MIN_WINDOW]);
    const [asker, other] = await viem.getWalletClients();
    await market.write.mint([asker!.account.address, 5n * FEE]);
    await market.write.approve([oracle.address, 5n * FEE]);
    const ask = async (changes: Partial<typeof REQUEST> = {}): Promise<Hex> => {
      const request = { ...REQUEST, ...changes };
      await oracle.write.ask([request]);
      const [asked] = await oracle.getEvents.Asked();
      return asked!.args.jobId!;
    };
    const reverts = (sent: Promise<unknown>, of: object, name: string) =>
      viem.assertions.revertWithCustomError(sent, of as never, name);
    return { market, oracle, asker: asker!, other: other!, ask, reverts };
  }

  it("contractOfThePage_isTheTestedOne", () => {
    const [, page] = /^```solidity\n([^]*?)^```$/m.exec(readFileSync("docs/sdk.md", "utf8"))!;
    const tested = readFileSync("contracts/test/DocumentedConsumer.sol", "utf8");
    // Prettier formats contracts on pages in another way.
    const bare = (text: string): string => text.replace(/\s/g, "");
    expect(bare(page!)).to.equal(bare(tested.replaceAll('"../', '"refute-ml/contracts/')));
  });

  it("mock_hasTheMarketsFunctions_andThoseOfTests", async () => {
    const functionsOf = (abi: Abi): AbiFunction[] =>
      abi.filter((part): part is AbiFunction => part.type === "function");
    const abiOf = async (name: string): Promise<Abi> => (await artifacts.readArtifact(name)).abi as Abi;
    const real = [await abiOf("IJobMarket"), await abiOf("IStakeVault"), erc20Abi];
    const known = new Set(real.flatMap(functionsOf).map(toFunctionSignature));
    const own = functionsOf(await abiOf("MockMarket")).filter((each) => !known.has(toFunctionSignature(each)));
    expect(own.map(({ name }) => name).sort()).to.deep.equal([...OF_TESTS].sort());
  });

  it("deliver_callsTheConsumerWithTheOutput_andAgainIfWanted", async () => {
    const { market, oracle, asker, ask } = await setUp();
    const jobId = await ask();
    expect(await market.read.balanceOf([asker.account.address])).to.equal(4n * FEE);
    await market.write.deliver([jobId, SCORES]);
    expect(await oracle.read.answerOf([jobId])).to.equal(1_500_000n);
    await market.write.deliverOutput([jobId, 0n, `0x${SCORES.slice(10)}`]);
    expect(await oracle.read.answerOf([jobId])).to.equal(-250_000n);
  });

  it("deliver_whatTheMarketWouldNot_isRefusedByName", async () => {
    const { market, oracle, ask, reverts } = await setUp();
    const jobId = await ask();
    await reverts(market.write.deliver([zeroHash, SCORES]), market, "WrongJobStatus");
    await reverts(market.write.deliver([jobId, `${SCORES}00`]), market, "AboveMaxOutputBytes");
    await reverts(market.write.deliver([await ask({ callbackGas: 0 }), SCORES]), market, "NoCallback");
    // The consumer's own reason, and none.
    await reverts(market.write.deliver([jobId, "0x0000807f"]), oracle, "NotFinite");
    await reverts(market.write.deliver([await ask({ callbackGas: 5_000 }), SCORES]), market, "CallbackFailed");
    await reverts(market.write.deliver([jobId, SCORES], { gas: 120_000n }), market, "TooLittleGas");
    await market.write.deliver([jobId, SCORES]);
  });

  it("consumer_refusesOtherProgramsAndCallers_andPaysTheFeeBack", async () => {
    const { market, oracle, asker, other, ask, reverts } = await setUp();
    const another = { ...REQUEST, program: { ...PROGRAM, stepsRoot: zeroHash } };
    await reverts(oracle.write.ask([another]), oracle, "AnotherProgram");
    const jobId = await ask();
    await reverts(ask(), market, "JobExists");
    await reverts(oracle.write.onResult([jobId, 0n, SCORES]), oracle, "NotMarket");
    const job = await market.read.jobWithId([jobId]);
    expect([job.programRoot, getAddress(job.requester)]).to.deep.equal([ROOT, getAddress(oracle.address)]);
    await reverts(oracle.write.refund([job], { account: other.account }), oracle, "NotAsker");
    await oracle.write.refund([job]);
    expect(await market.read.balanceOf([asker.account.address])).to.equal(5n * FEE);
    await reverts(market.write.deliver([jobId, SCORES]), market, "WrongJobStatus");
  });
});
