import {
  BaseError,
  ContractFunctionRevertedError,
  Eip1559FeesNotSupportedError,
  HttpRequestError,
  InsufficientFundsError,
  LimitExceededRpcError,
  NonceTooLowError,
  ResourceUnavailableRpcError,
  RpcRequestError,
  TimeoutError,
  WebSocketRequestError,
  decodeErrorResult,
} from "viem";
import { isRevert, revertDataOf } from "./answers.ts";
import { errorsAbi } from "./abi/errors.ts";
import { RefuteError } from "../base/errors.ts";
import {
  ContractRevertError,
  FeeCapError,
  InsufficientGasFundsError,
  NoBaseFeeError,
  NonceTakenError,
  RpcUnavailableError,
  TransactionRefusedError,
  TransactionTooLargeError,
} from "./errors.ts";
import { failureReason } from "./failureReason.ts";
import { refusalIn } from "./refusals.ts";

const UNAVAILABLE = [
  HttpRequestError,
  WebSocketRequestError,
  TimeoutError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
];

/** Providers' own codes for too many requests, in an answer that is well-formed otherwise. */
const TOO_MANY_REQUESTS = [429, -32_007];

/** Whether an error means only that a node gave no answer. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof RpcUnavailableError) return true;
  // Words say more than codes, which mean other things to other makes.
  const refusal = refusalIn(error);
  if (refusal !== undefined) return refusal === "busy" && !isRevert(error as BaseError);
  const isIt = (e: unknown): boolean =>
    UNAVAILABLE.some((type) => e instanceof type) ||
    e instanceof RpcUnavailableError ||
    (e instanceof RpcRequestError && TOO_MANY_REQUESTS.includes(e.code));
  return error instanceof BaseError && error.walk(isIt) !== null;
}

/** Whether no Refute contract gives such a result. */
export const isGarbled = (error: unknown): boolean =>
  error instanceof RpcUnavailableError
    ? isGarbled(error.cause)
    : error instanceof BaseError && error.walk((e) => GARBLED.test((e as Error | null)?.name ?? "")) !== null;
const GARBLED =
  /^(ContractFunctionZeroData|AbiDecoding\w*|PositionOutOfBounds|InvalidBytesBoolean|SliceOffsetOutOfBounds)Error$/;

/**
 * Translates viem's errors into Refute's errors. An unrelated error is returned unchanged.
 * @param what The failed function or action, for the message.
 */
export function translateError(error: unknown, what: string): Error {
  const translated = translateKnown(error, what);
  const request = translated instanceof BaseError ? translated.walk((e) => e instanceof RpcRequestError) : null;
  if (request === null) return translated;
  return new RpcUnavailableError(`${what}: the node refuses (${failureReason(request)}); ask another node`, {
    cause: error,
  });
}

function translateKnown(error: unknown, what: string): Error {
  if (error instanceof RefuteError || !(error instanceof BaseError)) return error as Error;
  const own = error.walk((e) => e instanceof RefuteError);
  const options = { cause: error };
  if (own instanceof RpcUnavailableError) return new RpcUnavailableError(`${what}: ${own.message}`, options);
  if (own instanceof RefuteError) return own;
  if (isUnavailable(error)) {
    return new RpcUnavailableError(`${what}: no answer from the node (${failureReason(error)})`, options);
  }
  const refusal = refusalIn(error);
  if (error.walk((e) => e instanceof InsufficientFundsError) !== null || refusal === "funds") {
    return new InsufficientGasFundsError(`${what}: the sender cannot pay for the gas; fund its account`, options);
  }
  const isNonceRefused = refusal === "nonceTooLow" || refusal === "nonceGap";
  if (isNonceRefused || error.walk((e) => e instanceof NonceTooLowError) !== null) {
    return new NonceTakenError(`${what}: another transaction of the sender came first; it is looked at again`, options);
  }
  // The called contract's own errors first: it need not be one of the protocol's.
  const reverted = error.walk((e) => e instanceof ContractFunctionRevertedError);
  if (reverted instanceof ContractFunctionRevertedError && reverted.data !== undefined) {
    return new ContractRevertError(what, reverted.data.errorName, reverted.data.args ?? [], options);
  }
  if (error.walk((e) => e instanceof Eip1559FeesNotSupportedError) !== null) return new NoBaseFeeError(options);
  if (isGarbled(error))
    return new RpcUnavailableError(
      `${what}: the node answers what no contract of Refute does; ask another one`,
      options,
    );
  if (!isRevert(error)) return error;
  const data = revertDataOf(error) ?? "0x";
  try {
    const { errorName, args } = decodeErrorResult({ abi: errorsAbi, data });
    return new ContractRevertError(what, errorName, args ?? [], options);
  } catch {
    return new ContractRevertError(what, "unknown error", data === "0x" ? [error.details] : [data], options);
  }
}

/**
 * Translates the refusal of a signed transaction into a Refute error.
 * @param bytes The transaction's size.
 */
export function translateRefusal(error: unknown, functionName: string, bytes: number): Error {
  const translated = translateKnown(error, functionName);
  if (translated instanceof RefuteError || !(error instanceof BaseError)) return translated;
  const words = error.details;
  if (refusalIn(error) === "feeCap") return new FeeCapError(functionName, words, { cause: error });
  if (refusalIn(error) !== "tooLarge") return new TransactionRefusedError(functionName, words, { cause: error });
  // A plain number below the size: "128 KB" and "131,072" are none.
  const limit = Number(/limit:? ?(\d+)(?!\d|[.,]\d|\s*[kKmM])/i.exec(words)?.[1] ?? bytes);
  const named = limit < bytes ? limit : undefined;
  return new TransactionTooLargeError(functionName, bytes, named, { cause: error });
}
