import { numberToHex, zeroHash, type Hex } from "viem";
import { custom, type Transport } from "viem";
import { ETHEREUM_LIMITS, checkAccount, checkGap, checkTransaction, pendingNonce } from "./poolRules.ts";
import type { PoolLimits } from "./poolRules.ts";
import { readSigned, type Pooled } from "./poolTransaction.ts";

/** A JSON-RPC error that does not come from the pool. */
class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Request = { method: string; params?: readonly unknown[] };

export const GWEI = 10n ** 9n;

/** The account's balance, wei. */
const BALANCE = 10n ** 21n;

/**
 * A node with a mempool (poolRules.ts) and a miner, for a single account. Each call makes a move that succeeds only
 * once. A second inclusion reverts, and gas estimates fail after the first.
 */
export class MempoolNode {
  baseFee = GWEI;
  /** The minimum tip for inclusion. */
  minTip = 0n;
  /** The pool's limits. */
  limits: PoolLimits = ETHEREUM_LIMITS;
  /** How many transactions were offered to the pool. */
  offers = 0;
  /** Nothing is included, though the pool takes it. */
  isCensored = false;
  /** The signed bytes offered to the pool, oldest first, including refused offers. */
  readonly offered: Hex[] = [];
  /** Returns the error that refuses an offer before the pool sees the offer; undefined to let the offer through. */
  refuses: (tx: Pooled) => Error | undefined = () => undefined;
  /** The calls of moves that others have made. */
  readonly madeByOthers = new Set<Hex>();
  /** The methods of all requests, oldest first. */
  readonly calls: string[] = [];
  /** Estimates of gas wait for the gate. */
  gate: Promise<unknown> | undefined;
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

  /** Takes back the last transactions that were mined: no pool has them any more. */
  reorganise(transactions: number): void {
    this.mined.splice(this.mined.length - transactions);
  }

  #isMade(data: Hex): boolean {
    if (data === "0x") return false;
    if (this.madeByOthers.has(data)) return true;
    return this.mined.some((made) => made.data === data && !made.reverted);
  }

  async #take(raw: Hex): Promise<Hex> {
    this.offers++;
    this.offered.push(raw);
    const tx = await readSigned(raw);
    const refusal = this.refuses(tx);
    if (refusal !== undefined) throw refusal;
    checkTransaction(tx, this.limits);
    checkAccount(tx, { nonce: this.mined.length, balance: BALANCE }, this.pool);
    checkGap(tx, pendingNonce(this.mined.length, this.pool), this.limits);
    this.pool.set(tx.nonce, tx);
    return tx.hash;
  }

  async #answer({ method, params = [] }: Request): Promise<unknown> {
    this.calls.push(method);
    await new Promise((resolve) => setImmediate(resolve));
    switch (method) {
      case "eth_chainId":
        return "0x1";
      case "eth_maxPriorityFeePerGas":
        return numberToHex(GWEI);
      case "eth_getTransactionCount":
        return numberToHex(params[1] === "pending" ? pendingNonce(this.mined.length, this.pool) : this.mined.length);
      case "eth_getBlockByNumber":
        return {
          number: "0x1",
          hash: zeroHash,
          timestamp: "0x1",
          baseFeePerGas: numberToHex(this.baseFee),
          transactions: [],
        };
      case "eth_estimateGas":
        await this.gate;
        if (this.#isMade((params[0] as { data: Hex }).data)) throw new Refusal(3, "execution reverted: StaleState");
        return "0x5208";
      case "eth_sendRawTransaction": {
        const hash = await this.#take(params[0] as Hex);
        if (this.losesAnswers) throw new Refusal(-32_002, "resource unavailable");
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
