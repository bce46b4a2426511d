import type { Address, Hex } from "viem";

/** The actions and findings of a dispatcher. */
export type DispatchEvent =
  | { kind: "posted"; part: number; attempt: number; fee: bigint }
  /** Nobody claimed it, and the next attempt pays more. */
  | { kind: "cancelled"; part: number; attempt: number }
  /** The worker was late, or no worker can take the job in time. */
  | { kind: "expired"; part: number; attempt: number }
  | { kind: "submitted"; part: number; worker: Address; claim: Hex }
  | { kind: "refuted"; part: number; worker: Address; claim: Hex }
  | { kind: "checked"; part: number; worker: Address; claim: Hex; isRight: boolean; windowEnd: bigint }
  /** A wrong claim that the account cannot dispute now. */
  | { kind: "undisputed"; part: number; claim: Hex; why: string }
  /** An action failed for a reason that may pass, for example because no node answers. It is tried again. */
  | { kind: "delayed"; what: string; why: string }
  /** No server gives the outputs of a final claim: they are computed here. */
  | { kind: "withheld"; part: number; worker: Address }
  /** The dispatcher ends during an open dispute of a claim: without the dispatcher's moves the bond is lost. */
  | { kind: "disputeLeft"; claim: Hex }
  /** A part is done, but the worker has not delivered on chain: the job's fee is unpaid, and may return. */
  | { kind: "undelivered"; part: number; worker: Address; job: Hex }
  | { kind: "done"; part: number; worker: Address; done: number; total: number };
