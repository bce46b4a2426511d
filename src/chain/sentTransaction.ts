import type { Address, Hash, Hex } from "viem";
import type { Fees } from "./fees.ts";

/** What became of signed bytes that were sent. */
export type SendOutcome = "taken" | "unclear" | TooCheap;
type TooCheap = "baseFee" | "underpriced" | "replacement";

/** Whether a pool asks for higher fees. */
export const isTooCheap = (outcome: SendOutcome | "refused"): outcome is TooCheap =>
  outcome === "baseFee" || outcome === "underpriced" || outcome === "replacement";

/** Where a transaction is, as far as the nodes know; "unknown" if none answers. "pool" may be a block too. */
export type TransactionPlace = "pool" | "nowhere" | "unknown";

/** A transaction that was sent, once or several times with one nonce. */
export type Waiting = {
  functionName: string;
  nonce: number;
  fees: Fees;
  /** What the node advised. */
  usual: Fees;
  /** Oldest first. */
  hashes: Hash[];
  /** The latest, signed. */
  raw: Hex;
  action: { to: Address; data: Hex; value: bigint; gas: bigint };
  /** When it is sent again, and the pause until then, milliseconds. */
  resend: { at: number; pauseMs: number };
  /** When a node last said that the call passes. */
  passedAt: number;
  /** How often in a row it was refused when it was sent again. */
  refusals: number;
};
