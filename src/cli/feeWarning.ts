import { formatGwei } from "viem";
import type { FeeEstimate } from "../parties/requester/estimateFee.ts";
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
