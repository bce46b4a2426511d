import { decodeAbiParameters, keccak256, toHex, zeroAddress, zeroHash, type Address } from "viem";
import type { Job, Terms } from "../../../src/chain/structs.ts";
import { completeTerms } from "../../../src/parties/requester/postJob.ts";
import type { Town } from "./town.ts";

/** Terms that a requester draws: each of them now and then. @param openFrom Of sealed jobs, unix seconds; else 0 */
export function drawTerms(town: Town, openFrom: number): Terms {
  const { prng, chain } = town.market;
  const { collateral } = chain.parameters;
  const now = <T>(oneIn: number, drawn: () => T, usual: T): T => (prng.below(oneIn) === 0 ? drawn() : usual);
  return completeTerms({
    openFrom,
    collateral: now(2, () => collateral * BigInt(1 + prng.below(3)) + BigInt(prng.below(1_000)), collateral),
    spread: now(4, () => 1 + prng.below(4), 0),
    earlyAccept: now(3, () => true, false),
    since: now(6, () => chain.now - prng.below(2) * 50_000, 0),
    maxRefuted: now(5, () => prng.below(4), 0xffff),
    maxLate: now(5, () => prng.below(4), 0xffff),
    reservedFor: now(5, () => prng.pick(town.workers), zeroAddress),
    group: now(4, () => keccak256(toHex(town.nextGroup())), zeroHash),
  });
}

/** Returns the key that records a worker's job in a group. */
export const takenKey = ({ requester }: Job, { group }: Terms, worker: Address): string =>
  `${requester} ${group} ${worker}`.toLowerCase();

/**
 * Why a worker may not take a job with these terms: the contract's error by the rules of docs/protocol.md, turns in the
 * queue left aside. undefined: it may.
 */
export async function unfitness(town: Town, job: Job, terms: Terms, worker: Address): Promise<string | undefined> {
  const { chain } = town.market;
  if (terms.reservedFor !== zeroAddress && terms.reservedFor !== worker) return "ReservedForAnother";
  const data = await chain.read(chain.onVault("recordOf", [worker]));
  const types = Array.from({ length: 3 }, () => ({ type: "uint256" }) as const);
  const [since, refuted, late] = decodeAbiParameters(types, data) as readonly [bigint, bigint, bigint];
  const isOld = terms.since === 0 || (since !== 0n && since <= BigInt(terms.since));
  if (!isOld || refuted > BigInt(terms.maxRefuted) || late > BigInt(terms.maxLate)) return "RecordTooPoor";
  if (terms.group !== zeroHash && town.taken.has(takenKey(job, terms, worker))) return "GroupTaken";
  if (BigInt(chain.now + 1 + job.claimSeconds) > job.deadline) return "DeadlineTooSoon";
  return undefined;
}
