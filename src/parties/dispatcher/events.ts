import type { Address, Hex } from "viem";

/** What a dispatcher does and finds. */
export type DispatchEvent =
  | { kind: "posted"; part: number; attempt: number; fee: bigint }
  /** Nobody claimed it, and the next attempt pays more. */
  | { kind: "cancelled"; part: number; attempt: number }
  /** Its worker was late, or nobody can take it in time. */
  | { kind: "expired"; part: number; attempt: number }
  | { kind: "submitted"; part: number; worker: Address; claim: Hex }
  | { kind: "refuted"; part: number; worker: Address; claim: Hex }
  | { kind: "checked"; part: number; worker: Address; claim: Hex; isRight: boolean; windowEnd: bigint }
  /** A wrong claim that this account cannot dispute now. */
  | { kind: "undisputed"; part: number; claim: Hex; why: string }
  /** No server gives the outputs of a final claim: they are computed here. */
  | { kind: "withheld"; part: number; worker: Address }
  /** The dispatcher ends while its dispute of a claim goes on: without its moves the bond is lost. */
  | { kind: "disputeLeft"; claim: Hex }
  /** A part is done whose worker has not delivered on chain: the job's fee is not paid, and may come back. */
  | { kind: "undelivered"; part: number; worker: Address; job: Hex }
  | { kind: "done"; part: number; worker: Address; done: number; total: number };
