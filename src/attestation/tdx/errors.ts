import { errorWithCode } from "../../base/errors.ts";

/** A file that is no quote of a trust domain with its certificates, or not whole. */
export class QuoteFormError extends errorWithCode("QUOTE_FORM") {}

/**
 * A file that is none of Intel's documents, certificates or revocation lists, or has a form that the chain cannot read.
 */
export class CollateralFormError extends errorWithCode("COLLATERAL_FORM") {}

/** What a quote needs is not on the chain. */
export class CollateralMissingError extends errorWithCode("COLLATERAL_MISSING", { retryable: true }) {}
