import { BaseError, custom, isHex, type Transport } from "viem";
import { isRevert } from "./answers.ts";
import { withoutPaths } from "../base/redact.ts";
import { isForHead } from "./checkRpcResult.ts";
import { firstSuccess, type AttemptPolicy } from "./retry.ts";
import { NodeRefusalError, RpcUnavailableError, WrongChainError } from "./errors.ts";
import { MAX_RETRY_AFTER_MS, Node } from "./node.ts";
import { pause } from "./pause.ts";
import { refusalIn } from "./refusals.ts";
import { isUnavailable } from "./translateError.ts";
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
 * How often each node is asked until a node answers. If 22 % of the answers are missing, one request in 9,000 gets no
 * answer in six tries.
 */
const PASSES = 6;

/** The pause after the first pass over all nodes, which doubles up to the maximum, less up to a half at random. */
const RETRY_PAUSE_MS = 100;
const MAX_RETRY_PAUSE_MS = 1_000;

/** Time limit for repeating a request: a clock may be running, and the next round asks for all of it again. */
const ASK_AGAIN_WITHIN_MS = 8_000;

/**
 * After this many times the usual duration, a second request starts in parallel, within bounds. The next such pause
 * doubles, to avoid giving a slow node the same work over and over.
 */
const SLOW_FACTOR = 8;
const MIN_BESIDE_MS = 500;
const MAX_BESIDE_MS = 2_500;

/** Logs for more blocks may take long: no second request starts in parallel. */
const FEW_BLOCKS = 200n;

/** How long after the first head those of the other nodes are waited for. */
const HEAD_WAIT_MS = 1_000;

/**
 * How often a head behind an already seen head is asked for again, and the first pause. The pause doubles each time.
 */
const HEAD_LOOKS = 3;
const HEAD_PAUSE_MS = 100;

/** Several nodes of one chain, used as one: the answer of any of them is enough. */
export class Nodes {
  readonly #nodes: readonly Node[];
  /** The node with the newest head. It is asked first. */
  #leader: Node;
  /** The height of the newest known head. */
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
   * Asks every node for its chain, again and again until a node answers. A node now down may recover before the first
   * use.
   * @throws WrongChainError if a node serves another chain, RpcUnavailableError if none answers
   */
  check(): Promise<void> {
    const policy = { ...this.#policy({ method: "eth_chainId" }, new Set(this.#nodes)), besideMs: () => undefined };
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
   * Returns the first answer. A failing node is asked again after the other nodes, and the next node is asked if an
   * answer takes long. A node that answers with an error of its own is not asked again: another node may know better,
   * also a node that rests first. An error counts only if the error is final or no node is left.
   */
  async #read(call: RpcCall): Promise<unknown> {
    const turns: Node[] = [];
    const left = new Set(this.#nodes);
    const errors: Error[] = [];
    const isNext = (node: Node): boolean => node.restMs === 0 && left.has(node);
    const ask = async (): Promise<unknown> => {
      // A node that rests loses its turn.
      if (!turns.some(isNext)) turns.splice(0, Infinity, ...this.#inTurn().filter((node) => left.has(node)));
      const node = turns.splice(Math.max(turns.findIndex(isNext), 0), 1)[0]!;
      const since = performance.now();
      const answer = await node.ask(call).catch((error: Error) => {
        errors.push(error);
        // Another node has answered: a node that failed twice in a row is not waited for.
        const isLost = left.size < this.#nodes.length && !node.isAvailable && node.restMs === 0;
        if (isAnswered(error) || isLost) left.delete(node);
        throw areOut(left) && !isFinalAnswer(error) ? mostInformative(errors) : error;
      });
      this.#usualMs += (performance.now() - since - this.#usualMs) / 8;
      return answer;
    };
    return firstSuccess(ask, this.#policy(call, left), mostInformative);
  }

  /** How long a request takes that takes long, milliseconds. */
  #slowMs(): number {
    return Math.min(Math.max(SLOW_FACTOR * this.#usualMs, MIN_BESIDE_MS), MAX_BESIDE_MS);
  }

  /** @param left The nodes that may still give an answer. */
  #policy(call: RpcCall, left: ReadonlySet<Node>): AttemptPolicy {
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
      restMs: () => Math.min(...[...left].map(({ restMs }) => restMs)),
      maxRestMs: MAX_RETRY_AFTER_MS,
      isFinal: (error) => isFinalAnswer(error) || areOut(left),
    };
  }

  /**
   * Returns the newest head. A head behind an already seen head comes from a lagging node, or from a branch abandoned
   * for a shorter branch: the method then asks again before believing the answer.
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

  /**
   * Returns the newest head of all nodes. A lagging node, or a node on an abandoned branch, therefore does not become
   * the leader.
   */
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
   * Sends a transaction to every node, to prevent a single node from withholding the transaction. The transaction is
   * sent once. If no node answers soon, the method stops waiting: the sender sends the same bytes again, and
   * understands the answers to a second try.
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

  /** Lists the leader first, and the nodes without recent answers last. */
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
  error instanceof BaseError && (isRevert(error) || ["nonceTooLow", "funds"].includes(refusalIn(error) ?? ""));

/** Whether none of the nodes is worth waiting for. */
const areOut = (nodes: ReadonlySet<Node>): boolean => [...nodes].every(({ restMs }) => restMs === Infinity);

/** Whether the node would answer the same again. */
const isAnswered = (error: unknown): boolean =>
  error instanceof NodeRefusalError || !(error instanceof RpcUnavailableError);

/** Returns the first error that a node reported itself; if no node answered, the first error of all. */
const mostInformative = (errors: readonly Error[]): Error =>
  errors.find((error) => !isUnavailable(error)) ??
  errors.find((error) => error instanceof NodeRefusalError) ??
  errors[0]!;
