import type { Prng } from "../random/prng.ts";

/** How a request fails before a node answers it, or with the answer lost. */
export type Failure = (typeof FAILURES)[number];

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
  /** The share of transactions that the node takes with a hash, and forgets. */
  swallowRate?: number;
  /** The share of requests that get the answer to another request, with the other request's id. */
  crossedRate?: number;
  /** Seconds for which a refusal demands a pause; 1 if absent. */
  pauseSeconds?: number;
  /** Milliseconds after which a hanging request is closed. Without it, the client closes the connection. */
  hangMs?: number;
  /** Nobody answers: connections are closed. */
  isDown?: boolean;
};

/** All ways to fail. */
export const FAILURES = [
  "429",
  "429 with a pause",
  "503",
  "503 with a pause",
  "500",
  "internal error",
  "upstream error",
  "time-out",
  "garbage",
  "cut",
] as const;

/** Answers over HTTP that say "not now": status, body and, where the node demands a pause, its seconds. */
export const NOT_NOW: Partial<Record<Failure, { status: number; text?: string; error?: object; pause?: boolean }>> = {
  "429": { status: 429, error: { code: 429, message: "Your app has exceeded its compute units per second capacity" } },
  "429 with a pause": { status: 429, error: { code: -32_005, message: "daily request count exceeded" }, pause: true },
  "503": { status: 503, error: { code: -32_011, message: "no backends available for method" } },
  "503 with a pause": { status: 503, text: "<h1>Service Unavailable</h1>", pause: true },
  "500": { status: 500, text: "<h1>Internal Server Error</h1>" },
  "internal error": { status: 200, error: { code: -32_603, message: "Internal error" } },
  "upstream error": { status: 200, error: { code: -32_000, message: "upstream request failed" } },
};

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

/** Returns a spoiled answer in a random form. No form is JSON-RPC with the true answer. */
export function garbage(prng: Prng, answer: string): string {
  return prng.pick(["<html><body>502 Bad Gateway</body></html>", answer.slice(0, answer.length / 2), "{}", ""]);
}
