import { hexToNumber, numberToHex, type Hex } from "viem";

/** A JSON-RPC request. */
export type Call = { method: string; params?: unknown[] };

/**
 * Answers like a node that lags some blocks without reporting the lag, like a stale node behind a load balancer.
 * @param pass Asks a node that has the newest block.
 */
export async function answerBehind(
  blocks: number,
  call: Call,
  pass: (call: Call) => Promise<unknown>,
): Promise<unknown> {
  const head = Math.max(0, hexToNumber((await pass({ method: "eth_blockNumber" })) as Hex) - blocks);
  const number = (tag: unknown): number => (typeof tag === "string" && tag.startsWith("0x") ? Number(tag) : head);
  const [a, b] = call.params ?? [];
  switch (call.method) {
    case "eth_blockNumber":
      return numberToHex(head);
    case "eth_getBlockByNumber":
      return number(a) > head ? null : pass({ ...call, params: [numberToHex(number(a)), b] });
    case "eth_getLogs": {
      // Most nodes give the logs that they have, and do not report that some are missing.
      const filter = a as { fromBlock: Hex; toBlock: Hex };
      if (number(filter.fromBlock) > head) return [];
      const toBlock = numberToHex(Math.min(head, number(filter.toBlock)));
      return pass({ ...call, params: [{ ...filter, toBlock }] });
    }
    case "eth_call":
    case "eth_estimateGas":
    case "eth_getTransactionCount":
    case "eth_getBalance":
      return pass({ ...call, params: [a, numberToHex(Math.min(head, number(b)))] });
    case "eth_getTransactionReceipt":
    case "eth_getTransactionByHash": {
      const found = (await pass(call)) as { blockNumber: Hex } | null;
      return found !== null && Number(found.blockNumber) > head ? null : found;
    }
    default:
      return pass(call);
  }
}
