import { errorWithCode } from "../../base/errors.ts";

/** A file does not hold a complete trust domain quote with its certificates. */
export class QuoteFormError extends errorWithCode("QUOTE_FORM") {}

/** A file contains no Intel document, certificate or revocation list, or has a form that the chain cannot read. */
export class CollateralFormError extends errorWithCode("COLLATERAL_FORM") {}

/** The chain lacks collateral that a quote needs. */
export class CollateralMissingError extends errorWithCode("COLLATERAL_MISSING", { retryable: true }) {}
