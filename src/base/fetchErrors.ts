import { errorWithCode } from "./errors.ts";

/** What a catalogue or a job names cannot be fetched now. */
export class FetchError extends errorWithCode("FETCH_FAILED", { retryable: true }) {}

/** What was fetched, or where it lies, is not what a catalogue or a job may name. */
export class FetchRefusedError extends errorWithCode("FETCH_REFUSED") {}
