import { formatEther, isAddressEqual, type Hex } from "viem";
import { RefuteError } from "../src/base/errors.ts";
import { inTurn } from "../src/base/inTurn.ts";
import { translateError } from "../src/chain/translateError.ts";
import { ensureCredit } from "../src/chain/market/deposit.ts";
import type { ClaimRecord } from "../src/chain/market/history.ts";
import { requirePlainAccount } from "../src/parties/role/plainAccount.ts";
import type { Duty, Role } from "../src/parties/role/role.ts";
import type { WatcherEvent } from "./events.ts";
import type { WatcherOptions } from "./options.ts";
import { Watching } from "./watcher.ts";

/** What executes disputes. */
type DisputesOptions = Pick<WatcherOptions, "session" | "programs" | "execute" | "log" | "signal">;

/** A wrong claim that cannot be disputed now, and why. */
export type Undisputed = { claim: Hex; why: string };

/** Disputes wrong claims that a requester names, like a watcher limited to these claims. */
export class Disputes {
  /** The audits and the games: a duty of the requester's role. */
  readonly watching: Duty;
  readonly #session: WatcherOptions["session"];
  readonly #paying: ReturnType<typeof inTurn>;
  /** All claims that were ever named: games about them go on. */
  readonly #claims = new Set<Hex>();
  /** The claims that are wrong, as the requester said last. */
  #latest: readonly ClaimRecord[] = [];

  /** @param paying Queue in which actions that change the account's credit wait for each other. */
  constructor(options: DisputesOptions, role: Role<WatcherEvent>, paying = inTurn()) {
    [this.#session, this.#paying] = [options.session, paying];
    const { forget, round } = new Watching({ ...options, mode: "defend", claims: this.#claims }, role);
    // Without claims, games of the account are another process's.
    this.watching = { forget, round: (...args) => (this.#claims.size > 0 ? round(...args) : undefined) };
  }

  /** Names all claims that are wrong and can be disputed. Called in each round. */
  take(wrong: readonly ClaimRecord[]): void {
    this.#latest = wrong;
  }

  /** The bonds for named claims without a game by the account: these bonds must stay in the credit. */
  get bonds(): bigint {
    return BigInt(this.#waiting.length) * this.#session.deployment.bond;
  }

  /**
   * Has the named claims disputed, each with a bond from the account's credit. Called in each round: bonds return, and
   * missing funds may arrive.
   * @returns the claims that cannot be disputed now
   */
  async tend(): Promise<Undisputed[]> {
    const { bond } = this.#session.deployment;
    if (this.#latest.length === 0) return [];
    const waiting = this.#waiting;
    try {
      await requirePlainAccount(this.#session);
      for (const { id } of this.#latest) this.#claims.add(id);
      const payable = await this.#paying(() => this.#pay(BigInt(waiting.length) * bond));
      const why = `its bond is ${formatEther(bond)}, and the account holds that of ${payable} only`;
      return waiting.slice(Number(payable)).map(({ id }) => ({ claim: id, why }));
    } catch (error) {
      const why = reasonOf(error);
      return why === undefined ? [] : waiting.map(({ id }) => ({ claim: id, why }));
    }
  }

  /**
   * Has a claim executed, and disputed if it is wrong and the credit covers a bond. Called in each round.
   * @returns why the claim is not judged from this account, if so
   */
  async judge({ id }: Pick<ClaimRecord, "id">): Promise<Undisputed | undefined> {
    try {
      await requirePlainAccount(this.#session);
    } catch (error) {
      const why = reasonOf(error);
      return why === undefined ? undefined : { claim: id, why };
    }
    this.#claims.add(id);
    return undefined;
  }

  /** Returns the claims whose games continue without the process: the bonds may be lost. */
  get left(): Hex[] {
    return this.#latest.map(({ id }) => id);
  }

  get #waiting(): ClaimRecord[] {
    return this.#latest.filter((claim) => !this.#isPlayed(claim));
  }

  #isPlayed({ games }: ClaimRecord): boolean {
    const { address } = this.#session.sender;
    return games.some(({ challenger, closed }) => closed === undefined && isAddressEqual(challenger, address));
  }

  /** Moves bonds into the account's credit, up to the funds held. @returns the number of covered bonds */
  async #pay(bonds: bigint): Promise<bigint> {
    const { vault, asset, sender, deployment } = this.#session;
    const { credit } = await vault.accountOf(sender.address);
    const held = credit + (await asset.balanceOf(sender.address));
    const payable = (held < bonds ? held : bonds) / deployment.bond;
    await ensureCredit(this.#session, payable * deployment.bond, payable * deployment.bond);
    return payable;
  }
}

/**
 * Returns why an action failed.
 * @returns undefined if the next round tries again, such as without an answer from a node
 * @throws the error if it is none of Refute's
 */
function reasonOf(thrown: unknown): string | undefined {
  const error = translateError(thrown, "preparing a dispute");
  if (!(error instanceof RefuteError)) throw error;
  return error.retryable ? undefined : error.message;
}
