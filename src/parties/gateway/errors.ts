import { errorWithCode } from "../../base/errors.ts";

/** The kinds of refusals in the interface of the clients. */
type ApiErrorKind =
  "invalid_request_error" | "authentication_error" | "insufficient_quota" | "rate_limit_error" | "server_error";

/** A refusal or a failure that a client is told. Its message names the field, and never repeats a prompt or a key. */
export class ApiError extends errorWithCode("GATEWAY") {
  readonly status: number;
  readonly kind: ApiErrorKind;
  /** What programs look at. */
  readonly reason: string | null;
  /** The request's wrong field. */
  readonly param: string | null;

  constructor(
    status: number,
    kind: ApiErrorKind,
    message: string,
    { reason = null, param = null, cause }: { reason?: string | null; param?: string | null; cause?: unknown } = {},
  ) {
    super(message, { cause });
    [this.status, this.kind, this.reason, this.param] = [status, kind, reason, param];
  }

  get body() {
    return { error: { message: this.message, type: this.kind, param: this.param, code: this.reason } };
  }
}

/** A request that does not fit: status 400. */
export const unfitRequest = (param: string, message: string, reason: string | null = null, cause?: unknown): ApiError =>
  new ApiError(400, "invalid_request_error", message, { param, reason, cause });

/** A file of the gateway (texts, keys, templates) cannot be used. */
export class GatewayFileError extends errorWithCode("GATEWAY_FILE") {}

/** A receipt that does not hold. */
export class ReceiptError extends errorWithCode("RECEIPT") {
  /** The field of the receipt that is wrong. */
  readonly field: string;

  constructor(field: string, why: string, options?: ErrorOptions) {
    super(`${field} ${why}`, options);
    this.field = field;
  }
}

/** A claim that cannot be validated. */
export class ValidationError extends errorWithCode("VALIDATION") {}
