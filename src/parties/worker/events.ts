import type { Hex, TransactionReceipt } from "viem";
import type { WatcherEvent } from "../../../watcher/events.ts";
import type { WorkerMove } from "../../dispute/workerMove.ts";

/** A worker's action, for logs and for programs that run a worker. */
export type WorkerEvent =
  /** About other seats of the worker's panels: what a watcher finds and does. */
  | WatcherEvent
  /** The worker's device has reported. @param seq Decimal text. */
  | { kind: "attested"; device: Hex; seq: string; receipt: TransactionReceipt }
  /** An exam. @param exam The block number of the exam, decimal text. @param seq Decimal text. */
  | { kind: "sat"; class: number; exam: string; seq: string; milliseconds: number; receipt: TransactionReceipt }
  /** @param fee Of the job, in the smallest unit of the stake asset. */
  | { kind: "claimed"; jobId: Hex; fee: bigint; receipt: TransactionReceipt }
  | { kind: "executed"; jobId: Hex; root: Hex; milliseconds: number }
  /** Natively, without exact execution. */
  | { kind: "answered"; jobId: Hex; root: Hex; milliseconds: number }
  | { kind: "withheld"; jobId: Hex; reason: string; submitBy: bigint; penalty: bigint }
  /** A commitment to a result, which is opened from `openFrom` to `openUntil` (unix seconds). */
  | { kind: "sealed"; jobId: Hex; openFrom: number; openUntil: number; receipt: TransactionReceipt }
  /** A seal that was not opened in time. @param collateral What is lost. */
  | { kind: "sealLost"; jobId: Hex; reason: string; collateral: bigint }
  | { kind: "submitted"; jobId: Hex; root: Hex; receipt: TransactionReceipt }
  /** Submitted with a proof, which ended the claim. */
  | { kind: "proven"; jobId: Hex; root: Hex; receipt: TransactionReceipt }
  | { kind: "moved"; gameId: Hex; move: WorkerMove["kind"]; receipt: TransactionReceipt }
  | { kind: "refuted"; jobId: Hex; claimId: Hex }
  | { kind: "expired"; jobId: Hex; receipt: TransactionReceipt }
  | { kind: "finalised"; jobId: Hex; claimId: Hex; receipt: TransactionReceipt }
  | { kind: "delivered"; jobId: Hex; claimId: Hex; output: number; receipt: TransactionReceipt }
  /** An output that is not delivered any more, because the requester can have the fee back, or soon can. */
  | { kind: "undelivered"; jobId: Hex; claimId: Hex; output: number; reason: string }
  | { kind: "collected"; claimId: Hex; receipt: TransactionReceipt };
