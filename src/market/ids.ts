import { encodeAbiParameters, keccak256, type AbiParameter, type Address, type Hex } from "viem";
import { disputeGameAbi } from "../chain/abi/disputeGame.ts";
import type { Claim, ClaimKey, Job } from "./types.ts";

const claimParameter = functionInputs("open")[0]!;
const jobParameter = (claimParameter as { components: readonly AbiParameter[] }).components[0]!;

function functionInputs(name: "open"): readonly AbiParameter[] {
  return disputeGameAbi.find((item) => item.type === "function" && item.name === name)!.inputs;
}

/** `jobId`: the hash of the job's content, on this chain and market. */
export function jobIdOf(job: Job, chainId: number, market: Address): Hex {
  const types = [{ type: "uint256" }, { type: "address" }, jobParameter];
  return keccak256(encodeAbiParameters(types, [BigInt(chainId), market, job]));
}

/** `claimId`: the hash of the job, the worker and its trace root. */
export function claimIdOf(jobId: Hex, worker: Address, traceRoot: Hex): Hex {
  const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }] as const;
  return keccak256(encodeAbiParameters(types, [jobId, worker, traceRoot]));
}

/** What names a claim, without the job's content. */
export const claimKeyOf = (jobId: Hex, { worker, traceRoot }: Pick<Claim, "worker" | "traceRoot">): ClaimKey => ({
  jobId,
  worker,
  traceRoot,
});

/** The claim that a worker's trace root for a job makes. */
export const claimOf = (job: Job, worker: Address, traceRoot: Hex): Claim => ({ job, worker, traceRoot });
