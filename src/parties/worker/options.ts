import type { Device } from "../../attestation/device.ts";
import type { RoleOptions } from "../role/role.ts";
import type { WorkerEvent } from "./events.ts";
import type { WorkerPolicy } from "./jobPolicy.ts";
import type { NativeWorkerOptions } from "./nativeClaims.ts";
import type { Prover } from "./prover.ts";
import type { TracePublisher } from "./publisher.ts";
import type { SealBook } from "./sealBook.ts";
import type { Exams } from "../../chain/clients/exams.ts";
import type { OwnExamClaims } from "../../attestation/exams/openExamClaims.ts";
import type { ExamClasses } from "../../attestation/exams/openExams.ts";

/** How a worker runs. */
export type WorkerOptions = RoleOptions<WorkerEvent> & {
  policy: WorkerPolicy;
  /** Number of random elements recomputed by the chain, free of charge, before a submission. */
  selfAuditSamples: number;
  /** Publishes the traces of its claims. */
  publisher?: TracePublisher | undefined;
  /**
   * The device that reports for the worker and keeps the attestation valid; without a device, the operator must renew.
   */
  device?: Device | undefined;
  /** The exams that it sits with its device; none if absent. */
  exams?: WorkerExams | undefined;
  /**
   * What happens to claims on the other seats of its panels that differ from its own: `defend` refutes the wrong ones,
   * with bonds from the account's credit; `watch` only reports them. Default `defend`.
   */
  seatMode?: "defend" | "watch" | "off";
  /** The store for seal openings; without a store, the worker claims no job with sealed submissions. */
  seals?: SealBook | undefined;
  /** Where its exam results become claims: the worker defends and finalises them there, with the same account. */
  examClaims?: OwnExamClaims | undefined;
  /** Proves outputs under keys of its own, for jobs whose terms name the key; all other jobs wait for their windows. */
  prover?: Prover | undefined;
  /** How jobs that ask for an answer are answered without exact execution; never if absent. */
  native?: NativeWorkerOptions | undefined;
};

/** The exams of a deployment, with the programs known to the worker. */
export type WorkerExams = ExamClasses<Exams>;
