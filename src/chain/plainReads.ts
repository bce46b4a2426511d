import type { Chain, PublicClient, Transport } from "viem";
import { RefuteError } from "../base/errors.ts";
import { translateError } from "./translateError.ts";

/** What is read beside contracts, by viem's names. */
const READS = [
  "getBalance",
  "getBlock",
  "getBlockNumber",
  "getCode",
  "getTransaction",
  "getTransactionReceipt",
] as const;

type Read = "readContract" | (typeof READS)[number];
type Reading = (parameters?: { functionName?: string }) => Promise<unknown>;

/**
 * Extends a client with reads that fail with Refute's errors, such as RpcUnavailableError without a node. Errors that
 * Refute has no name for stay viem's: a transaction that is in no block, say.
 */
export function plainReads(client: Pick<PublicClient<Transport, Chain>, Read>): Pick<typeof client, Read> {
  const reads = ["readContract", ...READS].map((name) => {
    const read = client[name as Read] as Reading;
    const plain: Reading = (parameters) =>
      read(parameters).catch((error: unknown) => {
        const translated = translateError(error, `reading ${parameters?.functionName ?? name}`);
        throw translated instanceof RefuteError ? translated : error;
      });
    return [name, plain];
  });
  return Object.fromEntries(reads) as Pick<typeof client, Read>;
}
