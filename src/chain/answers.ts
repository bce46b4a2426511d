import { BaseError, HttpRequestError, isHex, RpcRequestError, type Hex } from "viem";
import { RpcUnavailableError } from "./errors.ts";
import { detailsMatch, refusalIn } from "./refusals.ts";
import type { RpcCall } from "./rpcCall.ts";
import { isLogLimit, refusalOf } from "./spanLimit.ts";

/**
 * What an error of a node says about the request.
 * - `answer`: the node answers, and the answer is of a known kind: a revert, or a refusal with known words.
 * - `refused`: the node never answers such a request. Another node may.
 * - `none`: the node gives no answer now. There are more texts of busy nodes than anybody can list, so every unknown
 *   error is of this kind.
 */
type Meaning = "answer" | "refused" | "none";

/** Invalid parameters, and methods that a node does not have. */
const REFUSED_CODES: unknown[] = [-32_601, -32_602, 4_200];
const NO_METHOD = /\bmethod\b.{0,60}(not (found|supported|available|allowed|whitelisted)|does ?n[o']t exist)/i;
/** A code of EIP-1474 for a limit; for logs this error means a limit on their number. */
const LIMIT_EXCEEDED = -32_005;
const HTTP_TOO_LARGE = 413;

/** The selector of a revert's error, at least. */
const REVERT_DATA = /^(Reverted )?0x[0-9a-f]{8}/i;
const REVERT_CODE = 3;
const REVERT_WORDS = /(execution|exception|transaction|call)\b.{0,60}\brevert|^reverted(:| with| 0x|$)/i;

/** Returns what a node's error says about a request. */
export function meaningOf({ method }: RpcCall, error: unknown): Meaning {
  if (error instanceof RpcUnavailableError) return "none";
  if (!(error instanceof BaseError) || isRevert(error)) return "answer";
  if (error.walk((e) => (e as Error | null)?.name === "ResponseBodyTooLargeError") !== null) return "refused";
  const isForLogs = method === "eth_getLogs";
  const http = error.walk((e) => e instanceof HttpRequestError) as HttpRequestError | null;
  if (http !== null) return isForLogs && http.status === HTTP_TOO_LARGE ? "answer" : "none";
  const words = refusalIn(error);
  if (words === "busy") return "none";
  if (words !== undefined) return "answer";
  const codes = codesOf(error);
  if (isForLogs && (isLogLimit(error) || (codes.includes(LIMIT_EXCEEDED) && refusalOf(error) !== undefined)))
    return "answer";
  return codes.some((code) => REFUSED_CODES.includes(code)) || detailsMatch(error, NO_METHOD) ? "refused" : "none";
}

/** Whether a node answered with an error of its own, in JSON-RPC. */
export const hasRpcError = (error: unknown): boolean =>
  error instanceof RpcUnavailableError
    ? hasRpcError(error.cause)
    : error instanceof BaseError && error.walk((e) => e instanceof RpcRequestError) !== null;

/** Whether a call was executed and failed. */
export const isRevert = (error: BaseError): boolean =>
  codesOf(error).includes(REVERT_CODE) ||
  detailsMatch(error, REVERT_WORDS) ||
  REVERT_DATA.test(dataOf(error) ?? "") ||
  refusalIn(error) === "fails";

/** Returns the data with which a call reverted, wherever the node put them. */
export function revertDataOf(error: BaseError): Hex | undefined {
  const data = dataOf(error)?.replace(/^Reverted /, "");
  return isHex(data) ? data : undefined;
}

function dataOf(error: BaseError): string | undefined {
  let found: string | undefined;
  error.walk((e) => {
    const data = (e as { data?: unknown } | null)?.data;
    const nested = (data as { data?: unknown } | null | undefined)?.data;
    found = [data, nested].find((part) => typeof part === "string");
    return found !== undefined;
  });
  return found;
}

/** The codes in an error and its causes. */
function codesOf(error: BaseError): unknown[] {
  const codes: unknown[] = [];
  error.walk((e) => {
    codes.push((e as { code?: unknown } | null)?.code);
    return false;
  });
  return codes;
}
