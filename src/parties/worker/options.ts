import type { Device } from "../../attestation/device.ts";
import type { RoleOptions } from "../role/role.ts";
import type { WorkerEvent } from "./events.ts";
import type { WorkerPolicy } from "./jobPolicy.ts";
import type { NativeWorkerOptions } from "./nativeClaims.ts";
import type { TracePublisher } from "./publisher.ts";
import type { SealBook } from "./sealBook.ts";
import type { Exams } from "../../chain/clients/exams.ts";
import type { ExamClasses } from "../../attestation/exams/openExams.ts";

/** How a worker runs. */
export type WorkerOptions = RoleOptions<WorkerEvent> & {
  policy: WorkerPolicy;
  /** Random elements that the chain recomputes, free of charge, before a submission. */
  selfAuditSamples: number;
  /** Publishes the traces of its claims. */
  publisher?: TracePublisher | undefined;
  /** Reports for the worker, so that its attestation does not end; it is left to its operator if absent. */
  device?: Device | undefined;
  /** The exams that it sits with its device; none if absent. */
  exams?: WorkerExams | undefined;
  /** Where what opens its seals is kept; without it, no job is claimed whose submissions are sealed. */
  seals?: SealBook | undefined;
  /** Another worker of this process with the same account: told the gas that this one may need, it tells its own. */
  gasBeside?: ((own: number) => number) | undefined;
  /** How jobs that ask for an answer are answered without exact execution; never if absent. */
  native?: NativeWorkerOptions | undefined;
};

/** The exams of a deployment, with the programs that this worker knows. */
export type WorkerExams = ExamClasses<Exams>;
