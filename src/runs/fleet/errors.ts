import { errorWithCode } from "../../base/errors.ts";

/** The queue of a fleet cannot be reached now. */
export class QueueUnavailableError extends errorWithCode("QUEUE_UNAVAILABLE", { retryable: true }) {}

/** No executor could do a task: each try failed. */
export class TaskFailedError extends errorWithCode("TASK_FAILED", { retryable: true }) {}

/** A task ended the executors that took it: it is not given to others for a while. */
export class PoisonedTaskError extends errorWithCode("TASK_POISONED", { retryable: true }) {}

/** A store cannot be reached, or refuses a request. */
export class StoreError extends errorWithCode("STORE", { retryable: true }) {}

/** A store has no room. */
export class StoreFullError extends errorWithCode("STORE_FULL", { retryable: true }) {}

/** A store has no such bytes, or other bytes than were put there. */
export class StoreCorruptError extends errorWithCode("STORE_CORRUPT", { retryable: true }) {}
