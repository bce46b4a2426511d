import type { Address } from "viem";
import type { Batch } from "./batch.ts";
import type { BytesSource, Check, DispatchStore } from "./store.ts";

/** What a part of a batch cost, as far as it is done. */
export type PartCost = {
  part: number;
  /** The first of its items in the batch, and how many. */
  first: number;
  items: number;
  /** Whose claim is final. */
  worker?: Address;
  /** Where its bytes came from. */
  source?: BytesSource;
  /** Jobs that were posted for it. */
  attempts: number;
  /** Fees without what came back, smallest units of the stake asset. */
  fee: bigint;
  /** Of the dispatcher's own transactions: gas, and wei. */
  gas: number;
  gasCost: bigint;
};

/** What a batch cost. */
export type BatchCost = {
  parts: PartCost[];
  fee: bigint;
  gas: number;
  gasCost: bigint;
  /** Claims by what came of checking them. */
  checks: Record<Check, number>;
};

/** What each part cost so far, and all together. */
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
  };
}
