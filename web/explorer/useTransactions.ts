import { useEffect, useState } from "preact/hooks";
import type { Hex } from "viem";
import type { Reader } from "../../src/market/session.ts";

/** The gas of transactions, by their hash, as they become known. Each is asked for once. */
export function useGas({ publicClient }: Reader, hashes: readonly string[]): ReadonlyMap<string, bigint> {
  const [known, setKnown] = useState<ReadonlyMap<string, bigint>>(new Map());
  const missing = hashes.find((hash) => !known.has(hash));
  useEffect(() => {
    if (missing === undefined) return;
    let isOver = false;
    const take = (gas: bigint): void => {
      if (!isOver) setKnown((before) => new Map(before).set(missing, gas));
    };
    publicClient.getTransactionReceipt({ hash: missing as Hex }).then(
      ({ gasUsed }) => take(gasUsed),
      // A node that has forgotten it: the rest is shown without it.
      () => take(0n),
    );
    return () => {
      isOver = true;
    };
  }, [publicClient, missing]);
  return known;
}

/** What a transaction called; undefined until it is known, or if the node does not know it. */
export function useCall({ publicClient }: Reader, hash: Hex | undefined): Hex | undefined {
  const [call, setCall] = useState<Hex>();
  useEffect(() => {
    setCall(undefined);
    if (hash === undefined) return;
    let isOver = false;
    publicClient.getTransaction({ hash }).then(
      ({ input }) => !isOver && setCall(input),
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [publicClient, hash]);
  return call;
}
