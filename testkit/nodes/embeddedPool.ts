import { numberToHex, type Hex } from "viem";
import { PoolRefusal, checkAccount, checkGap, checkTransaction, pendingNonce, type PoolLimits } from "./poolRules.ts";
import { readSigned, readUnsigned, type Pooled, type Unsigned } from "./poolTransaction.ts";

/** A question to the chain behind the pool. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** The errors of Hardhat's chain and anvil for a transaction with a fee below the next block's base fee. */
const BELOW_BASE_FEE = /is too low for the next block|max fee per gas less than block base fee/;

/**
 * A transaction pool before a chain that has no pool, or whose pool accepts transactions refused elsewhere. The pool
 * passes on transactions that can be mined now. Other transactions wait, behind a gap of nonces or below the base fee.
 * The pool tries waiting transactions again after each request that may change an embedded chain, and on `promote`.
 *
 * The pool answers two methods of its own. `pool_setLimits` takes some of {@link PoolLimits}, with hexadecimal numbers.
 * `txpool_status` counts waiting transactions, like go-ethereum.
 */
export class EmbeddedPool {
  #limits: PoolLimits;
  /** By account, then by nonce. */
  #waiting = new Map<Hex, Map<number, Pooled>>();
  /** The waiting transactions at each snapshot of the chain. */
  readonly #snapshots = new Map<unknown, Map<Hex, Map<number, Pooled>>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /**
   * Answers a request, or passes it on.
   * @param chain Answers for the chain.
   * @throws PoolRefusal, and what the chain throws
   */
  async request(chain: Ask, method: string, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case "eth_sendRawTransaction":
        return this.#alone(() => this.#take(chain, params[0] as Hex));
      case "eth_sendTransaction":
        // Without the tip's floor: those who test contracts may stand for block builders, who need no pool.
        checkTransaction(readUnsigned(params[0] as Unsigned, this.#usualGas()), { ...this.#limits, minTip: 0n });
        return this.#alone(() => this.#passed(chain, method, params));
      case "eth_getTransactionCount":
        return params[1] === "pending" ? this.#pendingCount(chain, params[0] as Hex) : chain(method, params);
      case "eth_getTransactionByHash":
        return (await chain(method, params)) ?? this.#found(params[0] as Hex);
      case "evm_snapshot":
        return this.#snapshot(chain);
      case "evm_revert":
        return this.#revert(chain, params);
      case "pool_setLimits":
        return this.#setLimits(params[0] as Partial<Record<keyof PoolLimits, Hex>>);
      case "txpool_status":
        return this.#status(chain);
    }
    if (!/^(evm|hardhat)_/.test(method) || this.#waiting.size === 0) return chain(method, params);
    return this.#alone(() => this.#passed(chain, method, params));
  }

  /** Does one thing at a time: what waits must not be sent twice. */
  #alone<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#last.then(action);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #passed(chain: Ask, method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      return await chain(method, params);
    } finally {
      await this.#promote(chain);
    }
  }

  async #take(chain: Ask, raw: Hex): Promise<unknown> {
    const tx = await readSigned(raw);
    checkTransaction(tx, this.#limits);
    const [nonce, pending, balance] = await Promise.all([
      this.#count(chain, tx.from, "latest"),
      this.#count(chain, tx.from, "pending"),
      chain("eth_getBalance", [tx.from, "latest"]).then((wei) => BigInt(wei as Hex)),
    ]);
    const waiting = this.#waiting.get(tx.from) ?? new Map<number, Pooled>();
    checkAccount(tx, { nonce, balance }, waiting);
    checkGap(tx, pendingNonce(pending, waiting), this.#limits);
    if (tx.nonce <= pending) {
      try {
        const hash = await chain("eth_sendRawTransaction", [raw]);
        waiting.delete(tx.nonce);
        return hash;
      } catch (error) {
        if (!BELOW_BASE_FEE.test((error as Error).message)) throw error;
      } finally {
        await this.#promote(chain);
      }
    }
    this.#waiting.set(tx.from, waiting.set(tx.nonce, tx));
    return tx.hash;
  }

  /** Tries again what waits: blocks may have come without a request. */
  promote(chain: Ask): Promise<void> {
    return this.#alone(() => this.#promote(chain));
  }

  /** Sends transactions that need not wait any longer, and removes invalid transactions. */
  async #promote(chain: Ask): Promise<void> {
    for (const [from, waiting] of this.#waiting) {
      const nonce = await this.#count(chain, from, "latest");
      for (const old of waiting.keys()) if (old < nonce) waiting.delete(old);
      while (await this.#sendNext(chain, from, waiting));
      if (waiting.size === 0) this.#waiting.delete(from);
    }
  }

  /** @returns Whether the account had a transaction ready to send. */
  async #sendNext(chain: Ask, from: Hex, waiting: Map<number, Pooled>): Promise<boolean> {
    const next = waiting.get(await this.#count(chain, from, "pending"));
    if (next === undefined) return false;
    try {
      await chain("eth_sendRawTransaction", [next.raw]);
    } catch (error) {
      if (BELOW_BASE_FEE.test((error as Error).message)) return false;
      // The chain mined and reverted the transaction, or the account cannot pay for it any more.
    }
    waiting.delete(next.nonce);
    return true;
  }

  async #count(chain: Ask, from: Hex, block: "latest" | "pending"): Promise<number> {
    return Number(await chain("eth_getTransactionCount", [from, block]));
  }

  async #pendingCount(chain: Ask, address: Hex): Promise<Hex> {
    const waiting = this.#waiting.get(address.toLowerCase() as Hex) ?? new Map<number, Pooled>();
    return numberToHex(pendingNonce(await this.#count(chain, address, "pending"), waiting));
  }

  /** A waiting transaction as nodes describe it. */
  #found(hash: Hex): unknown {
    const all = [...this.#waiting.values()].flatMap((waiting) => [...waiting.values()]);
    const tx = all.find((other) => other.hash === hash);
    if (tx === undefined) return null;
    return {
      hash,
      from: tx.from,
      to: tx.to,
      nonce: numberToHex(tx.nonce),
      gas: numberToHex(tx.gas),
      input: tx.data,
      value: numberToHex(tx.value),
      type: "0x2",
      maxFeePerGas: numberToHex(tx.maxFee),
      maxPriorityFeePerGas: numberToHex(tx.tip),
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    };
  }

  async #status(chain: Ask): Promise<{ pending: Hex; queued: Hex }> {
    let [pending, all] = [0, 0];
    for (const [from, waiting] of this.#waiting) {
      const nonce = await this.#count(chain, from, "pending");
      pending += pendingNonce(nonce, waiting) - nonce;
      all += waiting.size;
    }
    return { pending: numberToHex(pending), queued: numberToHex(all - pending) };
  }

  async #snapshot(chain: Ask): Promise<unknown> {
    const id = await chain("evm_snapshot", []);
    this.#snapshots.set(id, this.#copy(this.#waiting));
    return id;
  }

  async #revert(chain: Ask, params: readonly unknown[]): Promise<unknown> {
    const answer = await chain("evm_revert", params);
    if (answer === true) this.#waiting = this.#copy(this.#snapshots.get(params[0])!);
    return answer;
  }

  #copy(waiting: Map<Hex, Map<number, Pooled>>): Map<Hex, Map<number, Pooled>> {
    return new Map([...waiting].map(([from, own]) => [from, new Map(own)]));
  }

  #setLimits(changed: Partial<Record<keyof PoolLimits, Hex>>): boolean {
    for (const [name, value] of Object.entries(changed)) {
      if (!(name in this.#limits)) throw new PoolRefusal(`the pool has no limit ${name}`);
      const isBytes = name === "maxBytes" || name === "maxInitCodeBytes";
      this.#limits = { ...this.#limits, [name]: isBytes ? Number(value) : BigInt(value) };
    }
    return true;
  }

  #usualGas(): bigint {
    const { maxGas, blockGas } = this.#limits;
    return maxGas < blockGas ? maxGas : blockGas;
  }
}
