import type { Address } from "viem";
import type { Batch } from "./batch.ts";
import type { BytesSource, Check, DispatchStore } from "./store.ts";

/** The cost of a batch's part so far. */
export type PartCost = {
  part: number;
  /** The number of the part's first item in the batch, and the number of items. */
  first: number;
  items: number;
  /** Whose claim is final. */
  worker?: Address;
  /** Where its bytes came from. */
  source?: BytesSource;
  /** Jobs that were posted for it. */
  attempts: number;
  /** Fees minus refunds, in the smallest unit of the stake asset. */
  fee: bigint;
  /** The dispatcher's own transactions: gas, and wei. */
  gas: number;
  gasCost: bigint;
};

/** The cost of a batch. */
export type BatchCost = {
  parts: PartCost[];
  fee: bigint;
  gas: number;
  gasCost: bigint;
  /** Claims by what came of checking them. */
  checks: Record<Check, number>;
  /** Seconds that the dispatcher's own GPU took for checks and missing outputs. */
  gpuSeconds: number;
};

/** Returns each part's cost up to now, and the total. */
export function costsOf({ parts }: Batch, store: DispatchStore): BatchCost {
  const done = new Map(store.done().map((one) => [one.part, one]));
  const attempts = store.attempts();
  const costs = parts.map(({ number, first, items }): PartCost => {
    const own = attempts.filter(({ part }) => part === number);
    const fee = own.reduce((sum, { terms, refund = 0n }) => sum + terms.fee - refund, 0n);
    const { gas, cost: gasCost } = store.spending(number);
    const finished = done.get(number);
    const result = finished && { worker: finished.worker, source: finished.source };
    return { part: number, first, items, ...result, attempts: own.length, fee, gas, gasCost };
  });
  return {
    parts: costs,
    fee: costs.reduce((sum, { fee }) => sum + fee, 0n),
    gas: costs.reduce((sum, { gas }) => sum + gas, 0),
    gasCost: costs.reduce((sum, { gasCost }) => sum + gasCost, 0n),
    checks: store.checks(),
    gpuSeconds: store.gpuSeconds(),
  };
}
