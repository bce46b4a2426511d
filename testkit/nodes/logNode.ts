import { BlockNotFoundError, InvalidInputRpcError, RpcRequestError, numberToHex, type Hex } from "viem";
import type { LogSource } from "../../src/chain/logReader.ts";
import { VirtualTime } from "./virtualTime.ts";

/** Returns viem's error for a node's error answer. */
export const rpcError = (message: string, code = -32_000): Error =>
  new InvalidInputRpcError(new RpcRequestError({ body: {}, error: { code, message }, url: "http://node" }));

/**
 * A node of a chain with one event (`value` = the block's number) in every `every` blocks. The node counts requests.
 */
export class LogNode {
  height: number;
  /** Maximum of blocks in a request. */
  limit = Infinity;
  /** Maximum of logs in an answer. */
  maxLogs = Infinity;
  /** The error text for a request with too many blocks. */
  words = "no";
  latencyMs = 50;
  /** Nodes may share it. */
  time = new VirtualTime();
  readonly counts = { getBlock: 0, getLogs: 0, refused: 0 };
  /** The most requests that it had at once. */
  maxAtOnce = 0;
  #atOnce = 0;
  readonly #every: number;

  constructor(height: number, every = 100) {
    [this.height, this.#every] = [height, every];
  }

  get source(): LogSource {
    const getBlock = ({ blockNumber }: { blockNumber?: bigint }) =>
      this.#answer(() => {
        this.counts.getBlock++;
        const number = blockNumber ?? BigInt(this.height);
        if (number > this.height) throw new BlockNotFoundError({ blockNumber: number });
        return { number, hash: hashOf(number), timestamp: number * 12n };
      });
    const getLogs = ({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) =>
      this.#answer(() => {
        this.counts.getLogs++;
        const logs = this.#logs(Number(fromBlock), Number(toBlock));
        if (toBlock - fromBlock + 1n <= this.limit && logs.length <= this.maxLogs) return logs;
        this.counts.refused++;
        throw rpcError(logs.length > this.maxLogs ? `query returned more than ${this.maxLogs} results` : this.words);
      });
    return { getBlock, getLogs } as unknown as LogSource;
  }

  /** Lets the node's time pass until an action ends. @returns the duration, seconds, and the counts of requests */
  async measure(action: Promise<unknown>): Promise<LogNode["counts"] & { seconds: number }> {
    const [start, before] = [this.time.now, { ...this.counts }];
    await this.time.during(action);
    const { getBlock, getLogs, refused } = this.counts;
    return {
      seconds: (this.time.now - start) / 1_000,
      getBlock: getBlock - before.getBlock,
      getLogs: getLogs - before.getLogs,
      refused: refused - before.refused,
    };
  }

  async #answer<T>(answer: () => T): Promise<T> {
    this.maxAtOnce = Math.max(this.maxAtOnce, ++this.#atOnce);
    await this.time.wait(this.latencyMs);
    this.#atOnce--;
    return answer();
  }

  #logs(from: number, to: number): object[] {
    const logs: object[] = [];
    for (let k = Math.ceil(from / this.#every) * this.#every; k <= Math.min(to, this.height); k += this.#every) {
      const blockNumber = BigInt(k);
      const args = { value: blockNumber };
      logs.push({ blockNumber, blockHash: hashOf(blockNumber), logIndex: 0, eventName: "Ping", args });
    }
    return logs;
  }
}

const hashOf = (number: bigint): Hex => numberToHex(number + 1n, { size: 32 });
