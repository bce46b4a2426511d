import { network } from "hardhat";
import { parseEventLogs, zeroHash, type Address, type Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import { claimIdOf, claimKeyOf, jobIdOf } from "../../src/chain/market/ids.ts";
import type { Claim, ClaimKey, Job, JobRequest, Parameters, ProgramFacts } from "../../src/chain/structs.ts";
import { workSeconds } from "../../src/chain/market/clock.ts";
import { toHex as bytesToHex } from "../../src/program/merkle/hash.ts";
import { readHeader } from "../../src/program/header.ts";
import type { ProgramCommitment } from "../../src/program/root.ts";
import { ONE_ITEM, runWork } from "../../src/program/run.ts";
import { SoftwareManufacturer } from "../../src/attestation/manufacturer.ts";
import type { Trace } from "../../src/program/trace/trace.ts";
import type { GameProgram } from "./chainProgram.ts";
import { deployMarket } from "./deployMarket.ts";
import { attest, GRID_BLOCKS } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";

const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;
export const SINK: Address = "0x000000000000000000000000000000000000dEaD";
export const LIFETIME = 7 * 86_400;

/** A deployment that the tests vary. The arithmetic is that of ignition/modules/Refute.ts. */
export const PARAMETERS: Parameters = {
  baseWindow: 1_800,
  maxWindow: 86_400,
  baseClock: 3_600,
  withdrawalDelay: 172_800,
  rate: 100_000_000n,
  maxWork: 1_000_000_000_000n,
  arityBits: 4,
  maxStepGas: 12_000_000,
  maxStepBytes: 90_000,
  bondGas: 1_250_000,
  priceCap: 50n * GWEI,
  bounty: ETHER / 50n,
  collateral: (18n * ETHER) / 10n,
  penaltyBps: 500,
  sink: SINK,
};

type TokenName = "TestToken" | "FeeToken" | "ReentrantToken";

/**
 * Deploys everything to a chain of its own: two manufacturers, named actors with tokens and credit, a staked worker
 * with a device of the first.
 */
export async function createWorld(overrides: Partial<Parameters> = {}, tokenName: TokenName = "TestToken") {
  const parameters = { ...PARAMETERS, ...overrides };
  const { viem, networkHelpers } = await network.create();
  const client = await viem.getPublicClient();
  const [deployer, worker, watcher, requester, mallory, stranger] = await viem.getWalletClients();
  const actors = {
    worker: worker!,
    watcher: watcher!,
    requester: requester!,
    mallory: mallory!,
    stranger: stranger!,
  };
  const manufacturer = new SoftwareManufacturer();
  // All three test tokens have the interface of this one.
  const deployedToken = await viem.deployContract(tokenName);
  const token = await viem.getContractAt("TestToken", deployedToken.address);
  const elementary = await viem.deployContract("Elementary");
  const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
  const rival = new SoftwareManufacturer();
  const provisioning = await viem.deployContract("Provisioning", [
    [manufacturer.id, rival.id],
    BigInt(GRID_BLOCKS),
    BigInt(LIFETIME),
  ]);
  const checker = await viem.deployContract("ProofChecker", [verifier.address]);
  const { market, vault, game } = await deployMarket(viem, {
    token: token.address,
    provisioning: provisioning.address,
    checker: checker.address,
    parameters,
  });
  const chainId = await client.getChainId();
  const world = {
    viem,
    networkHelpers,
    client,
    chainId,
    deployer: deployer!,
    ...actors,
    manufacturer,
    rival,
    token,
    verifier,
    checker,
    provisioning,
    market,
    vault,
    game,
    parameters,
    bond: await game.read.bond(),
  };
  for (const actor of [worker!, watcher!, requester!, mallory!]) {
    await token.write.mint([actor.account.address, 100n * ETHER]);
    await token.write.approve([vault.address, 2n ** 255n], { account: actor.account });
    await vault.write.deposit([actor.account.address, 20n * ETHER], { account: actor.account });
  }
  await attest(world, actors.worker.account.address, new TestDevice(manufacturer));
  await vault.write.stake([10n * ETHER], { account: actors.worker.account });
  return world;
}

export type World = Awaited<ReturnType<typeof createWorld>>;
export type Actor = World["worker"];

export const factsOf = ({ header, steps, checkpoints }: ProgramCommitment): ProgramFacts => ({
  header: bytesToHex(header),
  stepsRoot: steps.root,
  checkpointsRoot: checkpoints.root,
});

/** The terms of a request that are the same for all programs: of one item, due in a day, without a callback. */
export async function usualTerms({ networkHelpers }: Pick<World, "networkHelpers">) {
  return {
    fee: ETHER,
    ...ONE_ITEM,
    claimSeconds: 600,
    deadline: BigInt((await networkHelpers.time.latest()) + 86_400),
    callbackGas: 0,
    maxOutputBytes: 4_096,
    rootOnly: false,
    terms: [],
    answer: false,
    salt: zeroHash,
  };
}

/** A request for a subject program with its input posted. */
export async function requestFor(
  world: World,
  subject: GameProgram,
  changes: Partial<JobRequest> = {},
): Promise<JobRequest> {
  const { items = 1 } = changes;
  return {
    program: factsOf(subject.commitment),
    inputRoots: [subject.inputsList.root],
    inputs: [bytesToHex(subject.input)],
    ...(await usualTerms(world)),
    window: 1_800 + workSeconds(runWork(items, readHeader(subject.commitment.header).work), world.parameters.rate),
    ...changes,
  };
}

/** Posts a request and returns the job as the chain logs it. */
export async function postJob(world: World, request: JobRequest, by: Actor = world.requester): Promise<Job> {
  const hash = await world.market.write.post([request], { account: by.account });
  return postedJob(world, hash);
}

/** The job of a transaction that posted one. */
export async function postedJob({ client }: World, hash: Hex): Promise<Job> {
  const { logs } = await client.getTransactionReceipt({ hash });
  const [posted] = parseEventLogs({ abi: jobMarketAbi, logs, eventName: "JobPosted" });
  return posted!.args.job;
}

/** Posts a subject job, has a worker claim it and submit a trace. */
export async function submitted(
  world: World,
  subject: GameProgram,
  trace: Trace,
  changes: Partial<JobRequest> = {},
): Promise<Claim> {
  const job = await postJob(world, await requestFor(world, subject, changes));
  await world.market.write.claim([job], { account: world.worker.account });
  const nodes = submissionOf(trace.list, world.parameters.arityBits);
  await world.market.write.submit([job, nodes], { account: world.worker.account });
  return { job, worker: checksummed(world.worker), root: trace.root, collateral: world.parameters.collateral };
}

const checksummed = ({ account }: Actor): Address => account.address;

export const jobId = (world: World, job: Job): Hex => jobIdOf(job, world.chainId, world.market.address);
export const claimId = (world: World, claim: Claim): Hex => claimIdOf(claimKey(world, claim));

/** What names a claim in the game's calls. */
export const claimKey = (world: World, claim: Claim): ClaimKey => claimKeyOf(jobId(world, claim.job), claim);

/** Gas of a mined transaction. */
export const gasOf = async ({ client }: World, hash: Hex): Promise<bigint> =>
  (await client.getTransactionReceipt({ hash })).gasUsed;

/** Events of the game in a transaction. */
export async function gameEvents({ client }: World, hash: Hex) {
  const { logs } = await client.getTransactionReceipt({ hash });
  return parseEventLogs({ abi: disputeGameAbi, logs });
}

/** An account's free credit. */
export async function creditOf({ vault }: World, { account }: { account: { address: Address } }): Promise<bigint> {
  return (await vault.read.accountOf([account.address]))[0];
}
