import { HttpRequestError, RpcRequestError, TimeoutError } from "viem";
import { withoutPaths } from "../base/redact.ts";

/** Maximum number of characters repeated from a node's own message. */
const MAX_WORDS = 120;

/** Error codes of a failed or lost connection. After such a code, another process may answer. */
const LOST_CONNECTION =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|UND_ERR_(SOCKET|CONNECT_TIMEOUT))$/;

/**
 * Returns why a request had no answer, in a few words and without a URL: `HTTP 429`, `ECONNREFUSED`, `no answer within
 * 10 s`.
 * @param waitedMs How long the client waited, in milliseconds, if known.
 */
export function failureReason(error: unknown, waitedMs?: number): string {
  const causes = causesOf(error);
  const http = causes.find((cause) => cause instanceof HttpRequestError);
  if (http?.status !== undefined) return `HTTP ${http.status}`;
  const system = systemCode(causes);
  if (system !== undefined) return system;
  if (causes.some((cause) => cause instanceof TimeoutError))
    return waitedMs === undefined
      ? "no answer in time"
      : `no answer within ${Math.max(1, Math.round(waitedMs / 1_000))} s`;
  if (causes.some((cause) => cause instanceof SyntaxError)) return "the answer is not JSON";
  const rpc = causes.find((cause) => cause instanceof RpcRequestError);
  if (rpc !== undefined) return cut(`JSON-RPC error ${rpc.code} (${rpc.details})`);
  const last = causes.at(-1);
  if (last instanceof Error && last.message === "bad port") return "HTTP clients refuse this port: use another one";
  return cut(last instanceof Error ? last.message : String(error));
}

/** Whether a request failed because the connection was refused or lost. */
export const isConnectionLost = (error: unknown): boolean => systemCode(causesOf(error)) !== undefined;

const systemCode = (causes: readonly unknown[]): string | undefined =>
  causes
    .map((cause) => (cause as { code?: unknown }).code)
    .find((code): code is string => typeof code === "string" && LOST_CONNECTION.test(code));

const cut = (text: string): string => {
  const line = withoutPaths(text).split("\n", 1)[0]!;
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}...` : line;
};

/** An error and what caused it, outermost first. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; typeof cause === "object" && cause !== null; cause = (cause as { cause?: unknown }).cause)
    causes.push(cause);
  return causes;
}
