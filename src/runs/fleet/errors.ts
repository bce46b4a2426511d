import { errorWithCode } from "../../base/errors.ts";

/** The queue of a fleet cannot be reached now. */
export class QueueUnavailableError extends errorWithCode("QUEUE_UNAVAILABLE", { retryable: true }) {}

/** No executor could do a task: each try failed. */
export class TaskFailedError extends errorWithCode("TASK_FAILED", { retryable: true }) {}

/** A task killed the executors that took it: for a while, no other executor gets the task. */
export class PoisonedTaskError extends errorWithCode("TASK_POISONED", { retryable: true }) {}

/** A store cannot be reached, or refuses a request. */
export class StoreError extends errorWithCode("STORE", { retryable: true }) {}

/** A store has no room. */
export class StoreFullError extends errorWithCode("STORE_FULL", { retryable: true }) {}

/** A store lacks the bytes, or holds other bytes than were put there. */
export class StoreCorruptError extends errorWithCode("STORE_CORRUPT", { retryable: true }) {}
