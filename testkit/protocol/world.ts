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
import type { Trace } from "../../src/program/trace/trace.ts";
import type { GameProgram } from "./chainProgram.ts";
import { attest } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";
import { ETHER, type TokenName, deployWorld, type World, type Actor } from "./deployWorld.ts";

/** Deploys everything, and gives the named actors tokens and credit; the worker has stake and an attested device. */
export async function createWorld(overrides: Partial<Parameters> = {}, tokenName: TokenName = "TestToken") {
  const world = await deployWorld(overrides, tokenName);
  const { token, vault, manufacturer, worker, watcher, requester, mallory } = world;
  for (const actor of [worker, watcher, requester, mallory]) {
    await token.write.mint([actor.account.address, 100n * ETHER]);
    await token.write.approve([vault.address, 2n ** 255n], { account: actor.account });
    await vault.write.deposit([actor.account.address, 20n * ETHER], { account: actor.account });
  }
  await attest(world, worker.account.address, new TestDevice(manufacturer));
  await vault.write.stake([10n * ETHER], { account: worker.account });
  return world;
}

export const factsOf = ({ header, steps, checkpoints }: ProgramCommitment): ProgramFacts => ({
  header: bytesToHex(header),
  stepsRoot: steps.root,
  checkpointsRoot: checkpoints.root,
});

/** Returns the request terms common to all programs: one item, a deadline in a day, no callback. */
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

/** Posts a request and returns the job in the chain's log. */
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

/** Returns the key that names a claim in the game's calls. */
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
