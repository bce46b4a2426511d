import { errorWithCode, RefuteError } from "../../base/errors.ts";

/** Why an endpoint refuses a request, by the status of HTTP that it answers with. */
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

/** A request that a worker's endpoint refuses, before anything is executed. */
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

/** An answer of a worker that no honest worker gives: no ticket is signed for it. */
export class WrongAnswerError extends errorWithCode("WRONG_ANSWER") {}

/** A worker's endpoint that cannot be reached or does not answer as one. */
export class EndpointError extends errorWithCode("ENDPOINT", { retryable: true }) {}

/** A pledge, a deposit or a lifetime does not allow what is asked. */
export class TicketTermsError extends errorWithCode("TICKET_TERMS") {}
