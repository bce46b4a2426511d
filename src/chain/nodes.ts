import { setTimeout as sleep } from "node:timers/promises";
import { custom, isHex, type Transport } from "viem";
import { WrongChainError } from "./errors.ts";
import { Node, type RpcCall } from "./node.ts";
import { isUnavailable, detailsMatch } from "./translateError.ts";

/** How often all nodes are asked until one answers, and the pause after the first time, which doubles. */
const MAX_ROUNDS = 3;
const RETRY_PAUSE_MS = 150;
/** How long after the first head those of the other nodes are waited for. */
const HEAD_WAIT_MS = 1_000;

/** Several nodes of one chain, used as one: the answer of any of them is enough. */
export class Nodes {
  readonly #nodes: readonly Node[];
  /** The node with the newest head. It is asked first. */
  #leader: Node;
  /** For a viem client. */
  readonly transport: Transport;

  constructor(transports: readonly Transport[], chainId: number) {
    this.#nodes = transports.map((transport, k) => {
      const { request } = transport({ retryCount: 0 });
      return new Node((call) => request(call as never), chainId, `endpoint ${k + 1}`);
    });
    this.#leader = this.#nodes[0]!;
    this.transport = custom({ request: (call: RpcCall) => this.#request(call) }, { retryCount: 0 });
  }

  /**
   * Asks every node which chain it serves. One that is down may be up again before it is needed.
   * @throws WrongChainError if one serves another chain, and what the first one throws if none answers
   */
  async check(): Promise<void> {
    const failures: unknown[] = [];
    await Promise.all(this.#nodes.map((node) => node.check().catch((error: unknown) => failures.push(error))));
    const wrong = failures.find((error) => error instanceof WrongChainError);
    if (wrong !== undefined) throw wrong;
    if (failures.length === this.#nodes.length) throw failures[0];
  }

  async #request(call: RpcCall): Promise<unknown> {
    // Sent once only: a node that gave no answer may have taken it.
    if (call.method === "eth_sendRawTransaction") return this.#sendToAll(call);
    for (let round = 1; ; round++) {
      try {
        return isForHead(call) ? await this.#newestHead(call) : await this.#askInTurn(call);
      } catch (error) {
        if (round === MAX_ROUNDS || !isUnavailable(error)) throw error;
        await sleep(RETRY_PAUSE_MS * 2 ** (round - 1));
      }
    }
  }

  /** The first answer. An error counts only if it is final or if no node answers. */
  async #askInTurn(call: RpcCall): Promise<unknown> {
    const errors: unknown[] = [];
    for (const node of this.#inTurn()) {
      try {
        return await node.ask(call);
      } catch (error) {
        if (isFinal(error)) throw error;
        errors.push(error);
      }
    }
    throw mostInformative(errors);
  }

  /** The newest of the nodes' heads. So a node that lags, or is on an abandoned branch, does not become the leader. */
  async #newestHead(call: RpcCall): Promise<unknown> {
    const available = this.#inTurn().filter(({ isAvailable }) => isAvailable);
    if (available.length < 2) return this.#askInTurn(call);
    const heads: Head[] = [];
    await new Promise<void>((resolve) => {
      const asked = available.map(async (node) => {
        const block = (await node.ask(call)) as { number?: unknown } | null;
        const number = isHex(block?.number) ? BigInt(block.number) : undefined;
        if (number === undefined) return;
        heads.push({ node, number, block });
        setTimeout(resolve, HEAD_WAIT_MS).unref();
      });
      void Promise.allSettled(asked).then(() => resolve());
    });
    // The leader is the first in turn, and remains the leader if no other node is further.
    const inTurn = available.flatMap((node) => heads.filter((head) => head.node === node));
    const [best] = inTurn.sort((a, b) => Number(b.number - a.number));
    if (best === undefined) return this.#askInTurn(call);
    this.#leader = best.node;
    return best.block;
  }

  /** A transaction is sent to every node, so that none of them can withhold it. */
  async #sendToAll(call: RpcCall): Promise<unknown> {
    try {
      return await Promise.any(this.#nodes.map((node) => node.ask(call)));
    } catch (error) {
      throw mostInformative((error as AggregateError).errors);
    }
  }

  /** The leader first, and those that gave no answer lately last. */
  #inTurn(): Node[] {
    const others = this.#nodes.filter((node) => node !== this.#leader);
    return [this.#leader, ...others].sort((a, b) => Number(b.isAvailable) - Number(a.isAvailable));
  }
}

type Head = { node: Node; number: bigint; block: unknown };

const isForHead = ({ method, params }: RpcCall): boolean =>
  method === "eth_getBlockByNumber" && Array.isArray(params) && params[0] === "latest";

/** An answer that other nodes would give too. */
const isFinal = (error: unknown): boolean => detailsMatch(error, /revert|nonce too low|insufficient funds/i);

/** The first of several errors that a node gave itself; if no node answered, the first of all. */
const mostInformative = (errors: readonly unknown[]): unknown =>
  errors.find((error) => !isUnavailable(error)) ?? errors[0];
