import { errorWithCode, RefuteError } from "../../base/errors.ts";

/** The reasons for an endpoint's refusals, by HTTP status. */
export const REFUSALS = {
  400: "BAD_REQUEST",
  401: "WRONG_SIGNATURE",
  402: "PAYMENT_REQUIRED",
  404: "UNKNOWN_PROGRAM",
  409: "ALREADY_ANSWERED",
  413: "TOO_LARGE",
  429: "UNPAID_ANSWER",
  503: "UNAVAILABLE",
} as const;
export type TicketRefusal = keyof typeof REFUSALS;

/** A request that a worker's endpoint refuses before any execution. */
export class RefusedError extends RefuteError {
  readonly code: (typeof REFUSALS)[TicketRefusal];
  readonly status: TicketRefusal;
  override readonly retryable: boolean;

  constructor(status: TicketRefusal, message: string, options?: ErrorOptions) {
    super(message, options);
    [this.status, this.code] = [status, REFUSALS[status]];
    this.retryable = status === 429 || status === 503;
  }
}

/** A worker's answer that no honest worker gives: the payer signs no ticket for the answer. */
export class WrongAnswerError extends errorWithCode("WRONG_ANSWER") {}

/** A worker's endpoint cannot be reached, or does not answer correctly. */
export class EndpointError extends errorWithCode("ENDPOINT", { retryable: true }) {}

/** A pledge, a deposit or a lifetime does not allow the request. */
export class TicketTermsError extends errorWithCode("TICKET_TERMS") {}
