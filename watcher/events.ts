import type { Address, Hex, TransactionReceipt } from "viem";
import type { ChallengerMove } from "../src/dispute/challengerMove.ts";

/** The naming fields of a worker's exam. */
type Exam = { worker: Address; class: number; number: number };

/** A watcher's findings and actions, for logs and for programs that run a watcher. */
export type WatcherEvent =
  | { kind: "agrees"; jobId: Hex; claimId: Hex; root: Hex; milliseconds: number }
  | { kind: "differs"; jobId: Hex; claimId: Hex; claimed: Hex; own: Hex; milliseconds: number }
  | { kind: "unknown"; jobId: Hex; claimId: Hex; reason: string }
  | { kind: "opened"; claimId: Hex; receipt: TransactionReceipt }
  | { kind: "moved"; gameId: Hex; claimId: Hex; move: ChallengerMove["kind"]; receipt: TransactionReceipt }
  | { kind: "lost"; gameId: Hex; claimId: Hex }
  | { kind: "settled"; gameId: Hex; claimId: Hex; receipt: TransactionReceipt }
  | ({ kind: "examAgrees"; milliseconds: number } & Exam)
  | ({ kind: "examDiffers"; reported: Hex; own: Hex; milliseconds: number } & Exam)
  | ({ kind: "examChallenged"; receipt: TransactionReceipt } & Exam);
