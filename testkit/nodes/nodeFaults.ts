import type { Prng } from "../random/prng.ts";

/** How a request fails before a node answers it, or with the answer lost. */
export type Failure = "429" | "429 with a pause" | "500" | "time-out" | "garbage" | "cut";

/** The current faults of a node. An omitted field means no fault. Rates are shares of requests, 0 to 1. */
export type NodeFaults = {
  /** Requests that fail, each in one of `failures`. */
  errorRate?: number;
  failures?: readonly Failure[];
  /** The share of log requests whose answers omit the newest blocks' logs, without an error. */
  truncatedLogRate?: number;
  /** The share of requests answered by a lagging node, and the lag in blocks. */
  staleRate?: number;
  staleBlocks?: number;
  /** The most blocks in a request for logs, and the provider whose words refuse more. */
  logSpan?: { blocks: number; provider: keyof typeof LOG_SPAN_WORDS };
  /** More requests than this in a second are refused. */
  callsPerSecond?: number;
  /** Nobody answers: connections are closed. */
  isDown?: boolean;
};

/** All ways to fail. */
export const FAILURES: readonly Failure[] = ["429", "429 with a pause", "500", "time-out", "garbage", "cut"];

type Refusal = { status: number; code: number; message: string };

/** How providers refuse a request for the logs of too many blocks. */
export const LOG_SPAN_WORDS = {
  alchemy: (blocks, from) => ({
    status: 400,
    code: -32_600,
    message:
      `Under the Free tier plan, you can make eth_getLogs requests with up to a ${blocks} block range. Based on your ` +
      `parameters, this block range should work: [0x${from.toString(16)}, 0x${(from + blocks - 1).toString(16)}]. ` +
      `Upgrade to PAYG for expanded block range.`,
  }),
  quickNode: (blocks) => ({
    status: 413,
    code: -32_614,
    message: `eth_getLogs is limited to a ${blocks.toLocaleString("en")} range`,
  }),
  infura: (blocks) => ({ status: 200, code: -32_005, message: `range exceeds limit of ${blocks} blocks` }),
  geth: (blocks) => ({ status: 200, code: -32_602, message: `exceed maximum block range: ${blocks}` }),
} satisfies Record<string, (blocks: number, from: number) => Refusal>;

/** A provider's error text for too many requests. */
export const RATE_LIMIT_WORDS = "Your app has exceeded its compute units per second capacity";

/** Returns a spoiled answer in a random form. No form is JSON-RPC with the true answer. */
export function garbage(prng: Prng, answer: string): string {
  return prng.pick(["<html><body>502 Bad Gateway</body></html>", answer.slice(0, answer.length / 2), "{}", ""]);
}
