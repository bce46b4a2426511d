import { useEffect, useState } from "preact/hooks";
import type { Hex } from "viem";
import type { Call } from "./lastSum.ts";
import type { Reader } from "../../src/chain/market/reader.ts";

const RETRY_MS = 10_000;

/** The gas of transactions, by their hash, as they become known. Each is asked for once. */
export function useGas({ publicClient }: Reader, hashes: readonly string[]): ReadonlyMap<string, bigint> {
  const [known, setKnown] = useState<ReadonlyMap<string, bigint>>(new Map());
  const [failures, setFailures] = useState(0);
  const missing = hashes.find((hash) => !known.has(hash));
  useEffect(() => {
    if (missing === undefined) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const take = (gas: bigint): void => {
      if (!isOver) setKnown((before) => new Map(before).set(missing, gas));
    };
    publicClient.getTransactionReceipt({ hash: missing as Hex }).then(
      ({ gasUsed }) => take(gasUsed),
      // The node may know it later, or be asked less often.
      () => {
        timer = setTimeout(() => setFailures(failures + 1), RETRY_MS);
      },
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [publicClient, missing, failures]);
  return known;
}

/** The times of transactions' blocks, unix seconds, by the transaction's hash. Each is asked for once. */
export function useTimes({ publicClient }: Reader, hashes: readonly Hex[]): ReadonlyMap<string, bigint> {
  const [known, setKnown] = useState<ReadonlyMap<string, bigint>>(new Map());
  const [failures, setFailures] = useState(0);
  const missing = hashes.find((hash) => !known.has(hash));
  useEffect(() => {
    if (missing === undefined) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeOf = async (): Promise<bigint> => {
      const { blockNumber } = await publicClient.getTransactionReceipt({ hash: missing });
      return (await publicClient.getBlock({ blockNumber })).timestamp;
    };
    timeOf().then(
      (time) => {
        if (!isOver) setKnown((before) => new Map(before).set(missing, time));
      },
      () => {
        timer = setTimeout(() => setFailures(failures + 1), RETRY_MS);
      },
    );
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [publicClient, missing, failures]);
  return known;
}

/** What a transaction called; undefined until it is known, or if the node does not know it. */
export function useCall({ publicClient }: Reader, hash: Hex | undefined): Call | undefined {
  const [call, setCall] = useState<Call>();
  useEffect(() => {
    setCall(undefined);
    if (hash === undefined) return;
    let isOver = false;
    publicClient.getTransaction({ hash }).then(
      ({ to, input }) => !isOver && setCall({ to, input }),
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [publicClient, hash]);
  return call;
}
