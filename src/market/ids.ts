import { encodeAbiParameters, keccak256, type Address, type Hex } from "viem";
import { JOB_PARAMETER, type Claim, type ClaimKey, type Job } from "../chain/structs.ts";

/** `jobId`: the hash of the job's content, on this chain and market. */
export function jobIdOf(job: Job, chainId: number, market: Address): Hex {
  const types = [{ type: "uint256" }, { type: "address" }, JOB_PARAMETER];
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), market, job]));
}

/** `claimId`: the hash of the job, the worker and its run root. */
export function claimIdOf(jobId: Hex, worker: Address, runRoot: Hex): Hex {
  const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, worker, runRoot]));
}

/** What names a claim, without the job's content. */
export const claimKeyOf = (jobId: Hex, { worker, runRoot }: Pick<Claim, "worker" | "runRoot">): ClaimKey => ({
  jobId,
  worker,
  runRoot,
});

/** The claim that a worker's run root for a job makes. */
export const claimOf = (job: Job, worker: Address, runRoot: Hex): Claim => ({ job, worker, runRoot });
