import type { Address, PublicClient } from "viem";
import { NonceTakenError } from "./errors.ts";
import { pause } from "./pause.ts";
import { NONCE_LOOKS, NONCE_PAUSE_MS, RECENT, SHARED_PART, type Patience } from "./resendTimes.ts";
import { sharedRead } from "./sharedRead.ts";

/** An account's transaction counts: in blocks only, and including waiting transactions. */
type Counts = { latest: number; pending: number };

/**
 * One account's nonces. A nonce is used again until a transaction with the nonce is mined. Each nonce belongs to one
 * waiting transaction at most.
 */
export class Nonces {
  readonly #patience: Patience;
  readonly #counts: (notBefore: number) => Promise<Counts>;
  /** Nonces of transactions that are waited for, or about to be sent. */
  readonly #awaited = new Set<number>();
  /** The awaited nonces whose transactions were sent. */
  readonly #sent = new Set<number>();
  /** Nonces whose transactions no pool took. */
  readonly #holes = new Set<number>();
  /** Nonces of given up transactions of this process. The transactions may still be in a pool. */
  readonly #givenUp = new Set<number>();
  /** Nonces of this process's latest transactions with a seen receipt. */
  readonly #mined = new Set<number>();
  /** The nonce after the highest nonce with a seen receipt, and when a receipt was last seen. */
  #afterMined = 0;
  #minedAt = 0;
  /** The nonces of other processes' transactions, and when each was first seen. */
  readonly #foreign = new Map<number, number>();

  constructor(client: Pick<PublicClient, "getTransactionCount">, address: Address, patience: Patience) {
    this.#patience = patience;
    const count = (blockTag: "latest" | "pending"): Promise<number> =>
      client.getTransactionCount({ address, blockTag });
    this.#counts = sharedRead(async () => {
      const [latest, pending] = await Promise.all([count("latest"), count("pending")]);
      return { latest, pending };
    });
  }

  /**
   * Reads the counts. Those who ask at about the same time share an answer.
   * @param notBefore The answer must not have been asked for earlier; milliseconds of `performance.now`.
   * @throws the client's errors
   */
  look(notBefore = 0): Promise<Counts> {
    const soon = performance.now() - this.#patience.pollingMs * SHARED_PART;
    return this.#counts(Math.max(notBefore, soon, this.#minedAt));
  }

  /**
   * Reads the counts before a call is simulated. `take` needs them afterwards.
   * @param notBefore As of `look`. @throws the client's errors
   */
  async read(notBefore = 0): Promise<Counts> {
    let counts = await this.look(notBefore);
    // A node that lags does not know the latest transactions. After a reorganisation they are no longer there.
    for (let look = 1; counts.latest < this.#afterMined && look < NONCE_LOOKS; look++) {
      await pause(NONCE_PAUSE_MS);
      counts = await this.look(performance.now());
    }
    const { latest } = counts;
    this.#afterMined = Math.min(this.#afterMined, latest);
    for (const nonce of this.#mined) if (nonce >= latest) this.#mined.delete(nonce);
    for (const past of [this.#givenUp, this.#holes]) for (const nonce of past) if (nonce < latest) past.delete(nonce);
    return counts;
  }

  /**
   * Returns the first nonce without a mined or awaited transaction.
   * @param name The call's name, for the error.
   * @throws NonceTakenError while a transaction of an earlier process has the nonce.
   */
  free(name: string, { latest, pending }: Counts): number {
    let nonce = latest;
    while (this.#awaited.has(nonce) || this.#mined.has(nonce)) nonce++;
    for (const other of this.#foreign.keys()) if (other < latest || other >= pending) this.#foreign.delete(other);
    if (this.#givenUp.has(nonce) || pending <= nonce) return nonce;
    const since = this.#foreign.get(nonce) ?? performance.now();
    this.#foreign.set(nonce, since);
    if (performance.now() - since >= this.#patience.slowMs) return nonce;
    throw new NonceTakenError(`${name}: a transaction that an earlier process sent waits to be mined`);
  }

  /** Takes the free nonce: until its release, no other transaction gets the nonce. @throws as `free` */
  take(name: string, counts: Counts): number {
    const nonce = this.free(name, counts);
    this.#awaited.add(nonce);
    this.#holes.delete(nonce);
    return nonce;
  }

  /** Notes that a taken nonce's transaction was sent. */
  sent(nonce: number): void {
    this.#sent.add(nonce);
  }

  /** Releases a taken nonce whose transaction no pool took. */
  refused(nonce: number): void {
    this.release(nonce);
    this.#holes.add(nonce);
  }

  /** Returns the nonces that no transaction has although transactions behind were sent. Each is returned once. */
  takeHoles(): number[] {
    const holes = [...this.#holes].filter((nonce) => this.isWaitedBehind(nonce));
    for (const nonce of holes) this.#holes.delete(nonce);
    return holes;
  }

  /** Takes a nonce for which sent transactions with higher nonces wait. @returns Whether the nonce was taken. */
  takeGap(nonce: number): boolean {
    if (this.#awaited.has(nonce) || !this.isWaitedBehind(nonce)) return false;
    this.#awaited.add(nonce);
    this.#holes.delete(nonce);
    return true;
  }

  /** Releases a nonce. */
  release(nonce: number): void {
    this.#awaited.delete(nonce);
    this.#sent.delete(nonce);
  }

  /** Takes note of a seen receipt. */
  mined(nonce: number): void {
    this.#afterMined = Math.max(this.#afterMined, nonce + 1);
    this.#minedAt = performance.now();
    this.#mined.add(nonce);
    this.#mined.delete(nonce - RECENT);
  }

  /** Notes that a transaction is given up: the nonce may be taken although a pool has the transaction. */
  givenUp(nonce: number): void {
    this.#givenUp.add(nonce);
  }

  /** Whether a nonce is the lowest of the transactions that were sent and are waited for. */
  isFirst(nonce: number): boolean {
    return nonce === Math.min(...this.#sent);
  }

  /** Whether a transaction with a higher nonce was sent. An unsent one may still get another nonce, free of charge. */
  isWaitedBehind(nonce: number): boolean {
    return [...this.#sent].some((other) => other > nonce);
  }
}
