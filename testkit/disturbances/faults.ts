import { HttpRequestError, hexToNumber, keccak256, numberToHex, type Hex } from "viem";
import type { Prng } from "../random/prng.ts";
import type { Call, Fault } from "./rpcLine.ts";

const isSend = ({ method }: Call): boolean => method === "eth_sendRawTransaction";

/** No node answers. */
export const outage: Fault = () => Promise.reject(new HttpRequestError({ url: "http://node", status: 503 }));

/** One request in `every` is not answered. */
export const unreliable =
  (prng: Prng, every: number): Fault =>
  (call, pass) =>
    prng.below(every) === 0 ? outage(call, pass) : pass(call);

/** One transaction in `every` is accepted and never included. */
export function forgetful(prng: Prng, every: number): Fault {
  return (call, pass) =>
    isSend(call) && prng.below(every) === 0 ? Promise.resolve(keccak256((call.params as [Hex])[0])) : pass(call);
}

/** Transactions are held back until the promise resolves. */
export const heldBack =
  (until: Promise<void>): Fault =>
  async (call, pass) => {
    if (isSend(call)) await until;
    return pass(call);
  };

/**
 * Every second request is answered by a node that is some blocks behind and does not report it, like a stale node
 * behind a load balancer.
 */
export function staleEverySecond(blocks: number): Fault {
  let count = 0;
  return (call, pass) => (count++ % 2 === 0 ? pass(call) : answerBehind(blocks, call, pass));
}

async function answerBehind(blocks: number, call: Call, pass: (call: Call) => Promise<unknown>): Promise<unknown> {
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
