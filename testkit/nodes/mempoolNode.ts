import { keccak256, numberToHex, parseTransaction, zeroHash, type Hex } from "viem";
import { custom, type Transport } from "viem";

/** A JSON-RPC error, as a node answers. */
class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

type Request = { method: string; params?: readonly unknown[] };
type Pooled = { hash: Hex; nonce: number; gas: bigint; maxFee: bigint; tip: bigint; data: Hex };

export const GWEI = 10n ** 9n;

/**
 * A node, its mempool and its miner, by go-ethereum's rules, for one account. A call is a move that may be made once:
 * mined again, it reverts, and the estimate of its gas fails once it is made.
 */
export class MempoolNode {
  baseFee = GWEI;
  /** The minimum tips for which a transaction is included, and for which the pool accepts it. */
  minTip = 0n;
  minTipOfPool = 0n;
  /** Nothing is included, though the pool takes it. */
  isCensored = false;
  /** Transactions are taken, but the answer is lost. */
  losesAnswers = false;
  readonly mined: (Pooled & { reverted: boolean })[] = [];
  readonly pool = new Map<number, Pooled>();
  readonly transport: Transport = custom({ request: (call: Request) => this.#answer(call) }, { retryCount: 0 });

  /** Makes a block. */
  mine(): void {
    while (!this.isCensored) {
      const next = this.pool.get(this.mined.length);
      if (next === undefined || next.maxFee < this.baseFee || next.tip < this.minTip) return;
      this.pool.delete(next.nonce);
      this.mined.push({ ...next, reverted: this.#isMade(next.data) });
    }
  }

  forget(nonce: number): void {
    this.pool.delete(nonce);
  }

  #isMade(data: Hex): boolean {
    return this.mined.some((made) => made.data === data && !made.reverted);
  }

  #take(raw: Hex): Hex {
    const {
      nonce = 0,
      gas = 0n,
      maxFeePerGas: maxFee = 0n,
      maxPriorityFeePerGas: tip = 0n,
      data = "0x",
    } = parseTransaction(raw);
    const hash = keccak256(raw);
    const waiting = this.pool.get(nonce);
    if (nonce < this.mined.length) throw new Refusal(-32_000, "nonce too low");
    if (waiting?.hash === hash) throw new Refusal(-32_000, "already known");
    if (tip < this.minTipOfPool) throw new Refusal(-32_000, "transaction underpriced");
    const isUnder = (offered: bigint, before: bigint): boolean => offered * 10n < before * 11n;
    if (waiting !== undefined && (isUnder(maxFee, waiting.maxFee) || isUnder(tip, waiting.tip)))
      throw new Refusal(-32_000, "replacement transaction underpriced");
    this.pool.set(nonce, { hash, nonce, gas, maxFee, tip, data });
    return hash;
  }

  /** The next nonce, as the pool has it: those behind a gap do not count. */
  #pendingCount(): number {
    let count = this.mined.length;
    while (this.pool.has(count)) count++;
    return count;
  }

  async #answer({ method, params = [] }: Request): Promise<unknown> {
    await new Promise((resolve) => setImmediate(resolve));
    switch (method) {
      case "eth_chainId":
        return "0x1";
      case "eth_maxPriorityFeePerGas":
        return numberToHex(GWEI);
      case "eth_getTransactionCount":
        return numberToHex(params[1] === "pending" ? this.#pendingCount() : this.mined.length);
      case "eth_getBlockByNumber":
        return {
          number: "0x1",
          hash: zeroHash,
          timestamp: "0x1",
          baseFeePerGas: numberToHex(this.baseFee),
          transactions: [],
        };
      case "eth_estimateGas":
        if (this.#isMade((params[0] as { data: Hex }).data)) throw new Refusal(3, "execution reverted: StaleState");
        return "0x5208";
      case "eth_sendRawTransaction": {
        const hash = this.#take(params[0] as Hex);
        if (this.losesAnswers) throw Object.assign(new Refusal(-32_002, "resource unavailable"));
        return hash;
      }
      case "eth_getTransactionReceipt": {
        const found = this.mined.find(({ hash }) => hash === params[0]);
        return found === undefined
          ? null
          : {
              transactionHash: found.hash,
              status: found.reverted ? "0x0" : "0x1",
              blockNumber: "0x1",
              gasUsed: "0x1",
              logs: [],
            };
      }
      case "eth_getTransactionByHash": {
        const found = [...this.pool.values(), ...this.mined].find(({ hash }) => hash === params[0]);
        if (found === undefined) return null;
        const { hash, nonce, gas, maxFee, tip, data } = found;
        const fees = { maxFeePerGas: numberToHex(maxFee), maxPriorityFeePerGas: numberToHex(tip) };
        return {
          hash,
          nonce: numberToHex(nonce),
          gas: numberToHex(gas),
          input: data,
          value: "0x0",
          type: "0x2",
          ...fees,
        };
      }
      default:
        throw new Refusal(-32_601, `${method} is not served`);
    }
  }
}
