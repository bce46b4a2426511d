import { errorWithCode } from "../base/errors.ts";

/** An unusable flag, environment variable, config file or input file. */
export class UsageError extends errorWithCode("USAGE") {}

/** A missing key, or a keystore that does not open. */
export class KeyError extends errorWithCode("KEY") {}

/** The account has no live attestation, and therefore may not stake. */
export class NotAttestedError extends errorWithCode("NOT_ATTESTED") {}

/** The job's state does not allow the command. */
export class JobStateError extends errorWithCode("JOB_STATE") {}

/** The request is not due yet: stake still in the delay, a job still in time. */
export class NotReadyError extends errorWithCode("NOT_READY", { retryable: true }) {}

/** A command did the work, and the answer is no: the exit status reports no. */
export class NegativeVerdict extends errorWithCode("VERDICT") {}

/** A command did the work, and the answer could not be written: to a full disk, for example. */
export class AnswerLostError extends errorWithCode("ANSWER_LOST") {}

/** A signal ended a command before the work was done. */
export class InterruptedError extends errorWithCode("INTERRUPTED") {}

/** A place that a job should name does not have the job's inputs. */
export class WrongReferenceError extends errorWithCode("WRONG_REFERENCE") {}
