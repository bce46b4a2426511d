import { isHex } from "viem";
import type { RpcCall } from "./rpcCall.ts";

type Check = (answer: unknown) => boolean;

const isQuantity: Check = (answer) => isHex(answer) && answer.length > 2;
const isObject: Check = (answer) => typeof answer === "object" && answer !== null && !Array.isArray(answer);
const isObjectOrNull: Check = (answer) => answer === null || isObject(answer);

/** Form checks for answers, by method, for all methods that this client uses. */
const CHECKS: Readonly<Record<string, Check>> = {
  eth_blockNumber: isQuantity,
  eth_call: (answer) => isHex(answer),
  eth_chainId: isQuantity,
  eth_estimateGas: isQuantity,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  eth_getBlockByHash: isObjectOrNull,
  eth_getBlockByNumber: isObjectOrNull,
  eth_getCode: (answer) => isHex(answer),
  eth_getLogs: (answer) => Array.isArray(answer),
  eth_getTransactionByHash: isObjectOrNull,
  eth_getTransactionCount: isQuantity,
  eth_getTransactionReceipt: isObjectOrNull,
  eth_maxPriorityFeePerGas: isQuantity,
  eth_sendRawTransaction: isQuantity,
};

/** Whether a call asks for the newest block. */
export const isForHead = ({ method, params }: RpcCall): boolean =>
  method === "eth_getBlockByNumber" && Array.isArray(params) && params[0] === "latest";

/** Whether an answer has the form that the method promises. What has not is garbage: it is asked for again. */
export function isAnswer(call: RpcCall, answer: unknown): boolean {
  // Neither a result nor an error: this is no JSON-RPC node.
  if (answer === undefined) return false;
  // Every chain has a newest block.
  if (isForHead(call)) return isObject(answer) && isHex((answer as { number?: unknown }).number);
  return CHECKS[call.method]?.(answer) ?? true;
}
