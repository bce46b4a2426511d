import { setTimeout as sleep } from "node:timers/promises";
import { custom, isHex, type Transport } from "viem";
import { WrongChainError } from "./errors.ts";
import { Node, type RpcCall } from "./node.ts";
import { isUnavailable, says } from "./translateError.ts";

/** Times that all nodes are asked again if none answers, and the pause before the first, which doubles. */
const ROUNDS = 3;
const PAUSE_MS = 150;
/** The nodes that are slower to tell their head than the first one by more than this are not waited for. */
const GRACE_MS = 1_000;

/** Several nodes of one chain, as one: whatever one of them does, what another one answers counts. */
export class Nodes {
  readonly #nodes: readonly Node[];
  /** The one that told the newest head: it is asked first. */
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
    // Not twice: a node that gave no answer may have taken it.
    if (call.method === "eth_sendRawTransaction") return this.#sendToAll(call);
    for (let round = 1; ; round++) {
      try {
        return isForHead(call) ? await this.#newestHead(call) : await this.#askInTurn(call);
      } catch (error) {
        if (round === ROUNDS || !isUnavailable(error)) throw error;
        await sleep(PAUSE_MS * 2 ** (round - 1));
      }
    }
  }

  /** The first answer. Errors count as one only if no other node knows better. */
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
    throw telling(errors);
  }

  /** The newest of the heads that the nodes tell. A node that stands still, lags or is on a branch that was left leads nobody. */
  async #newestHead(call: RpcCall): Promise<unknown> {
    const awake = this.#inTurn().filter(({ isAwake }) => isAwake);
    if (awake.length < 2) return this.#askInTurn(call);
    const heads: Head[] = [];
    await new Promise<void>((resolve) => {
      const asked = awake.map(async (node) => {
        const block = (await node.ask(call)) as { number?: unknown } | null;
        const number = isHex(block?.number) ? BigInt(block.number) : undefined;
        if (number === undefined) return;
        heads.push({ node, number, block });
        setTimeout(resolve, GRACE_MS).unref();
      });
      void Promise.allSettled(asked).then(() => resolve());
    });
    // The leader is the first in turn, and stays where others are no further.
    const inTurn = awake.flatMap((node) => heads.filter((head) => head.node === node));
    const [best] = inTurn.sort((a, b) => Number(b.number - a.number));
    if (best === undefined) return this.#askInTurn(call);
    this.#leader = best.node;
    return best.block;
  }

  /** A transaction is sent to every node: none of them can keep it back. */
  async #sendToAll(call: RpcCall): Promise<unknown> {
    try {
      return await Promise.any(this.#nodes.map((node) => node.ask(call)));
    } catch (error) {
      throw telling((error as AggregateError).errors);
    }
  }

  /** The leader first, and those that gave no answer lately last. */
  #inTurn(): Node[] {
    const others = this.#nodes.filter((node) => node !== this.#leader);
    return [this.#leader, ...others].sort((a, b) => Number(b.isAwake) - Number(a.isAwake));
  }
}

type Head = { node: Node; number: bigint; block: unknown };

const isForHead = ({ method, params }: RpcCall): boolean =>
  method === "eth_getBlockByNumber" && Array.isArray(params) && params[0] === "latest";

/** An answer that other nodes would give too. */
const isFinal = (error: unknown): boolean => says(error, /revert|nonce too low|insufficient funds/i);

/** Of several errors the one that says most: a node's own words before its silence. */
const telling = (errors: readonly unknown[]): unknown => errors.find((error) => !isUnavailable(error)) ?? errors[0];
