import { encodeAbiParameters, keccak256, type Address, type Hex } from "viem";
import { JOB_PARAMETER, TERMS_PARAMETER, type Claim, type ClaimKey, type Job, type Terms } from "../structs.ts";

/** `jobId`: the hash of the job's content, on this chain and market. */
export function jobIdOf(job: Job, chainId: number, market: Address): Hex {
  const types = [{ type: "uint256" }, { type: "address" }, JOB_PARAMETER];
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), market, job]));
}

/** `Job.termsHash` of a job with these terms. */
export const termsHashOf = (terms: Terms): Hex => keccak256(encodeAbiParameters([TERMS_PARAMETER], [terms]));

/** The hash of what names a claim beside its worker. */
export function claimContentOf({ jobId, root, collateral }: ClaimKey): Hex {
  const types = [{ type: "bytes32" }, { type: "bytes32" }, { type: "uint128" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, root, collateral]));
}

/** `claimId`: the hash of the worker and of the rest of what names the claim. */
export const claimIdOf = (key: ClaimKey): Hex =>
  keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [key.worker, claimContentOf(key)]));

/** What names a claim, without the job's content. */
export const claimKeyOf = (jobId: Hex, { worker, root, collateral }: Omit<Claim, "job">): ClaimKey => ({
  jobId,
  worker,
  root,
  collateral,
});

/** The claim that a worker makes with a root for a job, with what of its stake is locked behind it. */
export const claimOf = (job: Job, worker: Address, root: Hex, collateral: bigint): Claim => ({
  job,
  worker,
  root,
  collateral,
});

/** What a worker seals: a commitment to a claim's root. @param salt Without it nobody can try roots. */
export function sealOf(jobId: Hex, worker: Address, root: Hex, salt: Hex): Hex {
  const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "bytes32" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, worker, root, salt]));
}
