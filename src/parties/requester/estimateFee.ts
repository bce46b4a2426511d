import { size } from "viem";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import { coveringFee, jobGas, jobShape, termsGas, type JobGas } from "../../dispute/jobCost.ts";
import { requireGenuine, type ProgramDescription } from "./description.ts";
import { answersOf, DEFAULT_TERMS, type JobTerms } from "./postJob.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** The minimum fee for a job under the usual policy of workers. */
export type FeeEstimate = {
  /** In the smallest unit of the stake asset: 1.5 times the current cost of the gas. */
  fee: bigint;
  /** Upper bounds for the gas of the worker's transactions. */
  gas: JobGas;
  /** wei. */
  gasPrice: bigint;
};

/**
 * Estimates the fee that covers the worker's gas for a job at the current gas price. Workers may ask for more: their
 * `minFee` comes on top.
 * @param terms The job's terms as far as they are known; those that determine the delivered outputs, the delivery, the
 *   submission and sealing count.
 * @throws DescriptionError, RpcUnavailableError
 */
export async function estimateFee(
  { publicClient, deployment: { parameters } }: Pick<Reader, "publicClient" | "deployment">,
  program: ProgramDescription,
  terms: Partial<JobTerms> = {},
): Promise<FeeEstimate> {
  const { checkpoints, outputs } = requireGenuine(program);
  const outputBytes = outputs.flatMap(({ dtype, count, each }) => (each ? [] : [count * dtypeBytes(dtype)]));
  const shape = { headerBytes: size(program.header), checkpoints, outputBytes };
  const all = { ...DEFAULT_TERMS, ...terms };
  const plain = jobGas(jobShape(shape, { ...all, answers: answersOf(all, outputs.length) }, parameters.arityBits));
  const gas = { ...plain, total: plain.total + (terms.rare === undefined ? 0 : termsGas(terms.rare)) };
  const gasPrice = await gasPriceNow(publicClient);
  return { fee: coveringFee(gas, gasPrice), gas, gasPrice };
}
