import { custom, isHex, LimitExceededRpcError, BaseError, type Transport } from "viem";
import { withoutPaths } from "../base/redact.ts";
import { isForHead } from "./checkRpcResult.ts";
import { firstSuccess, type AttemptPolicy } from "./retry.ts";
import { RpcUnavailableError, WrongChainError } from "./errors.ts";
import { Node } from "./node.ts";
import { pause } from "./pause.ts";
import { refusalIn } from "./refusals.ts";
import { detailsMatch, isUnavailable } from "./translateError.ts";
import type { RpcCall } from "./rpcCall.ts";

/** A request to a node that had no answer. */
export type RpcFailure = {
  /** Protocol and host; `endpoint N` if it has no URL. */
  node: string;
  method: string;
  /** In a few words, without URLs: `HTTP 429`, `ECONNREFUSED`, `no answer within 10 s`. */
  reason: string;
};

/**
 * How often each node is asked until one answers. With 22 % of the answers missing, one request in 9,000 has none after
 * six times.
 */
const PASSES = 6;

/** The pause after the first pass over all nodes, which doubles up to the maximum, less up to a half at random. */
const RETRY_PAUSE_MS = 100;
const MAX_RETRY_PAUSE_MS = 1_000;

/** A request is not asked anew later than this: a clock may be running, and the next round asks for all of it again. */
const ASK_AGAIN_WITHIN_MS = 8_000;

/**
 * A request that takes this many times as long as usual is asked again beside, within bounds. The next such pause is
 * twice as long, so that a slow node is not given the same work over and over.
 */
const SLOW_FACTOR = 8;
const MIN_BESIDE_MS = 500;
const MAX_BESIDE_MS = 2_500;

/** Logs of more blocks than this may take long: they are not asked for a second time meanwhile. */
const FEW_BLOCKS = 200n;

/** How long after the first head those of the other nodes are waited for. */
const HEAD_WAIT_MS = 1_000;

/** How often the head is asked for if it is behind one that was seen, and the pause before, which doubles. */
const HEAD_LOOKS = 3;
const HEAD_PAUSE_MS = 100;

/** Several nodes of one chain, used as one: the answer of any of them is enough. */
export class Nodes {
  readonly #nodes: readonly Node[];
  /** The node with the newest head. It is asked first. */
  #leader: Node;
  /** Of the newest head that was seen. */
  #height = -1n;
  /** How long an answer takes, milliseconds: a moving average. */
  #usualMs = MAX_BESIDE_MS / SLOW_FACTOR;
  /** For a viem client. */
  readonly transport: Transport;

  /** @param onFailure Called for each request to a node that had no answer. */
  constructor(
    transports: readonly Transport[],
    chainId: number,
    onFailure: (failure: RpcFailure) => void = () => undefined,
  ) {
    this.#nodes = transports.map((transport, k) => {
      const { request, value } = transport({ retryCount: 0 });
      const url: unknown = value?.url;
      const name = typeof url === "string" ? withoutPaths(url) : `endpoint ${k + 1}`;
      const report = (method: string, reason: string): void => onFailure({ node: name, method, reason });
      return new Node((call) => request(call as never), chainId, name, report);
    });
    this.#leader = this.#nodes[0]!;
    this.transport = custom({ request: (call: RpcCall) => this.#request(call) }, { retryCount: 0 });
  }

  /**
   * Asks every node which chain it serves, again and again until one answers. One that is down may be up again before
   * it is needed.
   * @throws WrongChainError if one serves another chain, RpcUnavailableError if none answers
   */
  check(): Promise<void> {
    const policy = { ...this.#policy({ method: "eth_chainId" }), besideMs: () => undefined };
    const isFinal = (error: unknown): boolean => error instanceof WrongChainError;
    return firstSuccess(() => this.#checkOnce(), { ...policy, max: PASSES, isFinal }, mostInformative);
  }

  async #checkOnce(): Promise<void> {
    const failures: unknown[] = [];
    await Promise.all(this.#nodes.map((node) => node.check().catch((error: unknown) => failures.push(error))));
    const wrong = failures.find((error) => error instanceof WrongChainError);
    if (wrong !== undefined) throw wrong;
    if (failures.length === this.#nodes.length) throw failures[0];
  }

  #request(call: RpcCall): Promise<unknown> {
    if (call.method === "eth_sendRawTransaction") return this.#sendToAll(call);
    return isForHead(call) ? this.#head(call) : this.#read(call);
  }

  /**
   * The first answer. Whoever fails is asked again after the others, and the next node is asked while one takes long.
   * An error counts only if it is final or if no node answers.
   */
  async #read(call: RpcCall): Promise<unknown> {
    const turns: Node[] = [];
    const ask = async (): Promise<unknown> => {
      if (turns.length === 0) turns.push(...this.#inTurn());
      const since = Date.now();
      const answer = await turns.shift()!.ask(call);
      this.#usualMs += (Date.now() - since - this.#usualMs) / 8;
      return answer;
    };
    return firstSuccess(ask, this.#policy(call), mostInformative);
  }

  /** How long a request takes that takes long, milliseconds. */
  #slowMs(): number {
    return Math.min(Math.max(SLOW_FACTOR * this.#usualMs, MIN_BESIDE_MS), MAX_BESIDE_MS);
  }

  #policy(call: RpcCall): AttemptPolicy {
    const nodes = this.#nodes.length;
    const slowMs = this.#slowMs();
    const isLong = isForManyLogs(call);
    return {
      max: PASSES * nodes,
      beginWithinMs: ASK_AGAIN_WITHIN_MS,
      pauseMs: (k) => {
        const passes = Math.floor((k + 1) / nodes);
        if (passes === 0 || (k + 1) % nodes !== 0) return 0;
        const longest = Math.min(RETRY_PAUSE_MS * 2 ** (passes - 1), MAX_RETRY_PAUSE_MS);
        return longest * (1 - Math.random() / 2);
      },
      besideMs: (k) => (isLong ? undefined : slowMs * 2 ** k),
      // What a node answers itself, another may know better.
      isFinal: (error, k) =>
        isFinalAnswer(error) || isForTooMuch(call, error) || (!isUnavailable(error) && k + 1 >= nodes),
    };
  }

  /**
   * The newest head. A head behind one that was seen comes from a node that lags, or from a branch that was left for a
   * shorter one: it is asked for again before it is believed.
   */
  async #head(call: RpcCall): Promise<unknown> {
    let best: Head | undefined;
    for (let look = 1; look <= HEAD_LOOKS; look++) {
      const head = await this.#newestHead(call);
      if (best === undefined || head.number > best.number) best = head;
      if (best.number >= this.#height) break;
      if (look < HEAD_LOOKS) await pause(HEAD_PAUSE_MS * 2 ** (look - 1));
    }
    this.#height = best!.number;
    return best!.block;
  }

  /** The newest of the nodes' heads. So a node that lags, or is on an abandoned branch, does not become the leader. */
  async #newestHead(call: RpcCall): Promise<Head> {
    const available = this.#inTurn().filter(({ isAvailable }) => isAvailable);
    if (available.length < 2) return headOf(await this.#read(call));
    const heads: (Head & { node: Node })[] = [];
    await new Promise<void>((resolve) => {
      const asked = available.map(async (node) => {
        heads.push({ node, ...headOf(await node.ask(call)) });
        setTimeout(resolve, HEAD_WAIT_MS).unref();
      });
      void Promise.allSettled(asked).then(() => resolve());
    });
    // The leader is the first in turn, and remains the leader if no other node is further.
    const inTurn = available.flatMap((node) => heads.filter((head) => head.node === node));
    const [best] = inTurn.sort((a, b) => Number(b.number - a.number));
    if (best === undefined) return headOf(await this.#read(call));
    this.#leader = best.node;
    return best;
  }

  /**
   * A transaction is sent to every node, so that none of them can withhold it. It is sent once, and not waited for when
   * no node answers soon: the sender sends the same bytes again, and knows what the answers to a second time mean.
   */
  async #sendToAll(call: RpcCall): Promise<unknown> {
    const sent = Promise.any(this.#nodes.map((node) => node.ask(call))).catch((error: unknown) => {
      throw mostInformative((error as AggregateError).errors as Error[]);
    });
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      const failure = new RpcUnavailableError("no node says soon that it takes the transaction");
      timer = setTimeout(() => reject(failure), 2 * this.#slowMs());
    });
    return Promise.race([sent, silence]).finally(() => clearTimeout(timer));
  }

  /** The leader first, and those that gave no answer lately last. */
  #inTurn(): Node[] {
    const others = this.#nodes.filter((node) => node !== this.#leader);
    return [this.#leader, ...others].sort((a, b) => Number(b.isAvailable) - Number(a.isAvailable));
  }
}

type Head = { number: bigint; block: unknown };

/** @param block With a number: `isAnswer` has checked it. */
const headOf = (block: unknown): Head => ({ number: BigInt((block as { number: string }).number), block });

function isForManyLogs({ method, params }: RpcCall): boolean {
  if (method !== "eth_getLogs") return false;
  const [filter] = (params ?? []) as [{ fromBlock?: unknown; toBlock?: unknown }?];
  const [from, to] = [filter?.fromBlock, filter?.toBlock];
  return !isHex(from) || !isHex(to) || BigInt(to) - BigInt(from) >= FEW_BLOCKS;
}

/** An answer that other nodes would give too. */
const isFinalAnswer = (error: unknown): boolean =>
  detailsMatch(error, /revert/i) || ["nonceTooLow", "funds"].includes(refusalIn(error) ?? "");

/** Whether a node refuses so many logs, in place of so many requests: then fewer are asked for. */
function isForTooMuch({ method }: RpcCall, error: unknown): boolean {
  const cause = error instanceof RpcUnavailableError ? error.cause : error;
  const isLimit = cause instanceof BaseError && cause.walk((e) => e instanceof LimitExceededRpcError) !== null;
  return method === "eth_getLogs" && isLimit && refusalIn(cause) !== "busy";
}

/** The first of several errors that a node gave itself; if no node answered, the first of all. */
const mostInformative = (errors: readonly Error[]): Error =>
  errors.find((error) => !isUnavailable(error)) ?? errors[0]!;
