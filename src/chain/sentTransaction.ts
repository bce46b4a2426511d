import { TransactionNotFoundError, type Address, type Hash, type Hex } from "viem";
import type { PublicClient, TransactionReceipt } from "viem";
import type { RpcUnavailableError } from "./errors.ts";
import type { Fees } from "./fees.ts";

/** The outcome of sending signed bytes. */
export type SendOutcome = "taken" | "unclear" | TooCheap;
type TooCheap = "baseFee" | "underpriced" | "replacement";

/** Whether a pool asks for higher fees. */
export const isTooCheap = (outcome: SendOutcome | "refused"): outcome is TooCheap =>
  outcome === "baseFee" || outcome === "underpriced" || outcome === "replacement";

/** A transaction's place according to the nodes; "unknown" if no node answers. "pool" may also mean a block. */
export type TransactionPlace = "pool" | "nowhere" | "unknown";

/** A transaction sent once, or several times with one nonce. */
export type Waiting = {
  functionName: string;
  nonce: number;
  fees: Fees;
  /** The fees that the node advised. */
  usual: Fees;
  /** Oldest first. */
  hashes: Hash[];
  /** The latest, signed. */
  raw: Hex;
  action: { to: Address; data: Hex; value: bigint; gas: bigint };
  /** The time of the next sending, and the pause before, in milliseconds. */
  resend: { at: number; pauseMs: number };
  /** When a node last said that the call passes. */
  passedAt: number;
  /** Number of consecutive refusals when sent again. */
  refusals: number;
  /** Why the latest sending had no outcome; undefined if it had one. */
  unclear: RpcUnavailableError | undefined;
};

/** Returns the receipt of any of the transactions with one nonce: each may be the mined one. */
export async function receiptOf(
  client: Pick<PublicClient, "getTransactionReceipt">,
  { hashes }: Waiting,
): Promise<TransactionReceipt | undefined> {
  for (const hash of hashes) {
    // A node that does not answer now may answer later.
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
    if (receipt !== undefined) return receipt;
  }
  return undefined;
}

/** Returns where the latest of the transactions is. */
export const placeOf = (client: Pick<PublicClient, "getTransaction">, { hashes }: Waiting): Promise<TransactionPlace> =>
  client.getTransaction({ hash: hashes.at(-1)! }).then(
    () => "pool",
    (error: unknown) => (error instanceof TransactionNotFoundError ? "nowhere" : "unknown"),
  );
