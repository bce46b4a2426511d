import { encodeAbiParameters, hexToBigInt, keccak256, type Address, type Hex } from "viem";
import { JOB_PARAMETER, TERMS_PARAMETER, type Claim, type ClaimKey, type Job, type Terms } from "../structs.ts";

/** Returns `jobId`: the hash over the job's content, on this chain and market. */
export function jobIdOf(job: Job, chainId: number, market: Address): Hex {
  const types = [{ type: "uint256" }, { type: "address" }, JOB_PARAMETER];
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), market, job]));
}

/** `Job.termsHash` of a job with these terms. */
export const termsHashOf = (terms: Terms): Hex => keccak256(encodeAbiParameters([TERMS_PARAMETER], [terms]));

/** Returns the hash of the fields that, with the worker, name a claim. */
export function claimContentOf({ jobId, root, collateral }: ClaimKey): Hex {
  const types = [{ type: "bytes32" }, { type: "bytes32" }, { type: "uint128" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, root, collateral]));
}

/** Returns `claimId`: the hash of the worker and the claim's content hash. */
export const claimIdOf = (key: ClaimKey): Hex =>
  keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [key.worker, claimContentOf(key)]));

/** Returns a claim's naming fields, with the job's id instead of the job's content. */
export const claimKeyOf = (jobId: Hex, { worker, root, collateral }: Omit<Claim, "job">): ClaimKey => ({
  jobId,
  worker,
  root,
  collateral,
});

/** Returns a worker's claim for a job, with the claim's root and the amount of locked stake. */
export const claimOf = (job: Job, worker: Address, root: Hex, collateral: bigint): Claim => ({
  job,
  worker,
  root,
  collateral,
});

/** Returns a worker's seal: a commitment to a claim's root. @param salt Prevents others from trying roots. */
export function sealOf(jobId: Hex, worker: Address, root: Hex, salt: Hex): Hex {
  const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "bytes32" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, worker, root, salt]));
}

/** The first public value of a proof about a worker's claim: a proof serves this worker's claim alone. */
export function proofContextOf(jobId: Hex, worker: Address, chainId: number, market: Address): bigint {
  const types = [{ type: "uint256" }, { type: "address" }, { type: "bytes32" }, { type: "address" }] as const;
  return hexToBigInt(keccak256(encodeAbiParameters(types, [BigInt(chainId), market, jobId, worker]))) >> 8n;
}
