import { errorWithCode } from "../base/errors.ts";

/** A flag, environment variable, config file or input file that cannot be used as it is. */
export class UsageError extends errorWithCode("USAGE") {}

/** A key that is missing, or a keystore that does not open. */
export class KeyError extends errorWithCode("KEY") {}

/** The account has no live attestation, without which it may not stake. */
export class NotAttestedError extends errorWithCode("NOT_ATTESTED") {}

/** A job is not in a state in which the command can do what it is for. */
export class JobStateError extends errorWithCode("JOB_STATE") {}

/** What is asked for is not due yet: stake that is asked back, a job that is in time. */
export class NotReadyError extends errorWithCode("NOT_READY", { retryable: true }) {}

/** A command did its work, and the answer is no: the exit status says so. */
export class NegativeVerdict extends errorWithCode("VERDICT") {}

/** A command did its work, and its answer could not be written: to a full disk, say. */
export class AnswerLostError extends errorWithCode("ANSWER_LOST") {}

/** A command was ended by a signal before it had done its work. */
export class InterruptedError extends errorWithCode("INTERRUPTED") {}

/** A place that a job is to name does not have its inputs. */
export class WrongReferenceError extends errorWithCode("WRONG_REFERENCE") {}
