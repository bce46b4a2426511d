import { errorWithCode } from "./errors.ts";

/** A URL that a catalogue or a job names cannot be fetched now. */
export class FetchError extends errorWithCode("FETCH_FAILED", { retryable: true }) {}

/** The fetched content, or its URL, violates the rules for a catalogue or a job. */
export class FetchRefusedError extends errorWithCode("FETCH_REFUSED") {}
