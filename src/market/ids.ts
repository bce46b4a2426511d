import { encodeAbiParameters, keccak256, type Address, type Hex } from "viem";
import { JOB_PARAMETER, type Claim, type ClaimKey, type Job } from "../chain/structs.ts";

/** `jobId`: the hash of the job's content, on this chain and market. */
export function jobIdOf(job: Job, chainId: number, market: Address): Hex {
  const types = [{ type: "uint256" }, { type: "address" }, JOB_PARAMETER];
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), market, job]));
}

/** `claimId`: the hash of the job, the worker and the claim's root. */
export function claimIdOf(jobId: Hex, worker: Address, root: Hex): Hex {
  const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, worker, root]));
}

/** What names a claim, without the job's content. */
export const claimKeyOf = (jobId: Hex, { worker, root }: Pick<Claim, "worker" | "root">): ClaimKey => ({
  jobId,
  worker,
  root,
});

/** The claim that a worker makes with a root for a job. */
export const claimOf = (job: Job, worker: Address, root: Hex): Claim => ({ job, worker, root });
