import { encodeAbiParameters, keccak256, parseEventLogs, zeroAddress, zeroHash, type Hex } from "viem";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import type { ClaimKey, Job, JobRequest, Terms } from "../../src/chain/structs.ts";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import { claimOf } from "../../src/chain/market/ids.ts";
import { completeTerms } from "../../src/parties/requester/postJob.ts";
import type { Trace } from "../../src/program/trace/trace.ts";
import { smallProgram } from "./marketKit.ts";
import { attest } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";
import { claimKey, createWorld, jobId, requestFor } from "./world.ts";
import { ETHER, type Actor } from "./deployWorld.ts";

const HOUR = 3_600;
const SALT: Hex = `0x${"5a".repeat(32)}`;

/** A time after seals and audit, at which the seats of a panel open. */
const OPENS = 3 * HOUR;

/** A world with a panel contract, three more workers, and a requester that has approved its tokens. */
export async function panelWorld() {
  const world = await createWorld();
  const panel = await world.viem.deployContract("Panel", [world.market.address]);
  const { token, vault, manufacturer } = world;
  for (const actor of [world.mallory, world.stranger]) {
    const { address } = actor.account;
    await token.write.mint([address, 100n * ETHER]);
    await token.write.approve([vault.address, 2n ** 255n], { account: actor.account });
    await vault.write.deposit([address, 20n * ETHER], { account: actor.account });
    await attest(world, address, new TestDevice(manufacturer));
    await vault.write.stake([10n * ETHER], { account: actor.account });
  }
  await token.write.approve([panel.address, 2n ** 255n], { account: world.requester.account });
  return Object.assign(world, { panel });
}

type PanelWorld = Awaited<ReturnType<typeof panelWorld>>;

/** The placeholder for a seat without a claim. */
export const NO_CLAIM: ClaimKey = { jobId: zeroHash, worker: zeroAddress, root: zeroHash, collateral: 0n };

/** A panel that was posted. */
export type Posted = {
  request: JobRequest;
  jobs: Job[];
  terms: Terms;
  first: Job;
  deadline: number;
  auditUntil: number;
  openFrom: number;
};

/** Returns helpers for repeated actions in tests of panels. */
export function panelKit(world: () => PanelWorld) {
  const at = (second: number) => world().networkHelpers.time.setNextBlockTimestamp(second);
  const jobsOf = async (hash: Hex): Promise<Job[]> => {
    const { logs } = await world().client.getTransactionReceipt({ hash });
    return parseEventLogs({ abi: jobMarketAbi, logs, eventName: "JobPosted" }).map(({ args }) => args.job);
  };

  /** A request for a panel: seals within an hour, an added seat within another one, openings after a third. */
  async function request(changes: Partial<JobRequest> = {}, terms: Partial<Terms> = {}): Promise<JobRequest> {
    const now = await world().networkHelpers.time.latest();
    const { collateral } = world().parameters;
    return requestFor(world(), smallProgram, {
      deadline: BigInt(now + HOUR),
      maxOutputBytes: 0,
      salt: SALT,
      terms: [completeTerms({ collateral, openFrom: now + OPENS, ...terms })],
      ...changes,
    });
  }

  async function post(seats: number, audited = false, changes: Partial<JobRequest> = {}): Promise<Posted> {
    const asked = await request(changes);
    const openFrom = asked.terms[0]!.openFrom;
    const auditUntil = openFrom - HOUR;
    const args = [asked, seats, audited ? auditUntil : 0] as const;
    const jobs = await jobsOf(await world().panel.write.post([...args], { account: world().requester.account }));
    const [first] = jobs;
    const terms = { ...asked.terms[0]!, group: first!.salt };
    return { request: asked, jobs, terms, first: first!, deadline: Number(asked.deadline), auditUntil, openFrom };
  }

  const saltOf = (by: Actor): Hex => keccak256(by.account.address);

  /** Claims a seat for a worker and seals the worker's root. */
  async function seal({ terms }: Posted, job: Job, by: Actor, { root }: Trace): Promise<void> {
    const { market } = world();
    await market.write.claimOnTerms([job, terms], { account: by.account });
    const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "bytes32" }] as const;
    const values = [jobId(world(), job), by.account.address, root, saltOf(by)] as const;
    const sealed = keccak256(encodeAbiParameters(types, values));
    await market.write.seal([job, terms, sealed], { account: by.account });
  }

  /** A seal is opened. @returns the claim's key */
  async function open({ terms }: Posted, job: Job, by: Actor, trace: Trace): Promise<ClaimKey> {
    const nodes = submissionOf(trace.list, world().parameters.arityBits);
    const args = [job, terms, by.account.address, saltOf(by), nodes] as const;
    await world().market.write.openSeal([...args], { account: by.account });
    return claimKey(world(), claimOf(job, by.account.address, trace.root, terms.collateral));
  }

  /** Seats are sealed by these workers in their order, and opened. @returns the claims' keys */
  async function play(panel: Posted, answers: readonly (readonly [Actor, Trace])[]): Promise<ClaimKey[]> {
    for (const [k, [by, trace]] of answers.entries()) await seal(panel, panel.jobs[k]!, by, trace);
    await at(panel.openFrom);
    const keys: ClaimKey[] = [];
    for (const [k, [by, trace]] of answers.entries()) keys.push(await open(panel, panel.jobs[k]!, by, trace));
    return keys;
  }

  const finalise = async (job: Job, { worker, root, collateral }: ClaimKey): Promise<void> => {
    await world().market.write.finalise([{ job, worker, root, collateral }]);
  };

  return { at, jobsOf, request, post, seal, open, play, finalise };
}
