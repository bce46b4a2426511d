import { errorWithCode } from "./errors.ts";

/** A URL that a catalogue or a job names cannot be fetched now. */
export class FetchError extends errorWithCode("FETCH_FAILED", { retryable: true }) {}

/** The content that was fetched, or its URL, is not what a catalogue or a job may name. */
export class FetchRefusedError extends errorWithCode("FETCH_REFUSED") {}
