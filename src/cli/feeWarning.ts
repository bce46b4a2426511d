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
 * Says so if nobody seems to serve some programs: no account has stake, or workers took other jobs of the market and
 * none of the programs. A market without claims is no reason to warn. A node that does not answer ends nothing here.
 * The past of the market is read once for all programs.
 */
export async function warnOfNobody(output: Output, reader: Reader, programRoots: readonly Hex[]): Promise<void> {
  const serving = await servingOf(reader, programRoots).catch((error: unknown) => {
    output.note(`who serves the program is not known: ${withoutPaths((error as Error).message)}`);
    return undefined;
  });
  if (serving === undefined || serving.unserved.length === 0) return;
  const { blocks, unserved, ofOthers, isStaked } = serving;
  const back = "while nobody claims the job, refute job cancel JOB takes the fee back";
  if (!isStaked) output.warn(`no account has the stake that a claim needs on this market: ${back}`);
  else if (ofOthers > 0) {
    const programs = programRoots.length === 1 ? "this program" : unserved.join(", ");
    output.warn(
      `no worker has taken a job of ${programs} in the latest ${blocks} blocks, and ${ofOthers} jobs of others were ` +
        "taken: a worker must have the model with the same flags (--shape, --dim, --bind, --batch and so on); " +
        back,
    );
  }
}
