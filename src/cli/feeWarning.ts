import { formatGwei, type Hex } from "viem";
import { withoutPaths } from "../base/redact.ts";
import type { Reader } from "../chain/market/reader.ts";
import type { FeeEstimate } from "../parties/requester/estimateFee.ts";
import { servingOf } from "../parties/requester/servingOf.ts";
import { amountText } from "./amount.ts";
import type { Output } from "./output.ts";

/** Says so if a worker with the usual policy would not take a job at the gas price of now. */
export function warnOfLowFee(output: Output, { fee: needed, gas, gasPrice }: FeeEstimate, fee: bigint): void {
  if (fee >= needed) return;
  const cost = `${gas.total} gas at ${formatGwei(gasPrice)} gwei and half as much again`;
  output.warn(
    `--fee ${amountText(fee)} is below ${amountText(needed)} of the stake asset, what a worker needs now (${cost}): ` +
      `no worker may take the job; refute status shows whether one did`,
  );
}

/**
 * Says so if nobody seems to serve a program: no account has stake, or workers took other jobs of the market and none
 * of the program. A market without claims is no reason to warn. A node that does not answer ends nothing here.
 */
export async function warnOfNobody(output: Output, reader: Reader, programRoot: Hex): Promise<void> {
  const serving = await servingOf(reader, programRoot).catch((error: unknown) => {
    output.note(`who serves the program is not known: ${withoutPaths((error as Error).message)}`);
    return undefined;
  });
  if (serving === undefined || serving.ofProgram > 0) return;
  const back = "while nobody claims the job, refute job cancel JOB takes the fee back";
  if (!serving.isStaked) output.warn(`no account has the stake that a claim needs on this market: ${back}`);
  else if (serving.ofAll > 0)
    output.warn(
      `no worker has taken a job of this program yet, and ${serving.ofAll} jobs of others were taken: a worker must ` +
        `have the model with the same flags (--shape, --dim, --bind, --batch and so on); ${back}`,
    );
}
