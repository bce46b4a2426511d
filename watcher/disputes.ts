import { formatEther, isAddressEqual, type Hex } from "viem";
import { pino } from "pino";
import { RefuteError } from "../src/base/errors.ts";
import { inTurn } from "../src/base/inTurn.ts";
import { translateError } from "../src/chain/translateError.ts";
import { ensureCredit } from "../src/chain/market/deposit.ts";
import type { ClaimRecord } from "../src/chain/market/history.ts";
import { requirePlainAccount } from "../src/parties/role/plainAccount.ts";
import type { WatcherOptions } from "./options.ts";
import { runWatcher } from "./watcher.ts";

/** What executes and pays for disputes. */
export type DisputesOptions = Pick<WatcherOptions, "session" | "programs" | "execute" | "intervalMs"> &
  Partial<Pick<WatcherOptions, "heldInputs" | "log" | "onEvent">>;

/** A wrong claim that cannot be disputed now, and why. */
export type Undisputed = { claim: Hex; why: string };

/** Disputes wrong claims that a requester names, like a watcher limited to these claims. */
export class Disputes {
  readonly #options: DisputesOptions;
  readonly #paying: ReturnType<typeof inTurn>;
  readonly #claims = new Set<Hex>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** The claims that were under dispute in the latest round. */
  #latest: readonly ClaimRecord[] = [];

  /** @param paying Queue in which actions that change the account's credit wait for each other. */
  constructor(options: DisputesOptions, paying = inTurn()) {
    [this.#options, this.#paying] = [options, paying];
  }

  /**
   * Has claims disputed, each with a bond from the account's credit. Called in each round: bonds return, and missing
   * funds may arrive.
   * @param wrong All claims that are wrong and can be disputed.
   * @returns the bonds for claims without a game by the account: these bonds must stay in the credit
   */
  async tend(wrong: readonly ClaimRecord[]): Promise<{ bonds: bigint; undisputed: Undisputed[] }> {
    const { session } = this.#options;
    const { bond } = session.deployment;
    this.#latest = wrong;
    const waiting = wrong.filter((claim) => !this.#isPlayed(claim));
    const bonds = BigInt(waiting.length) * bond;
    if (wrong.length === 0) return { bonds, undisputed: [] };
    try {
      await requirePlainAccount(session);
      for (const { id } of wrong) this.#claims.add(id);
      const payable = await this.#paying(() => this.#pay(bonds));
      this.#running ??= this.#watch();
      const why = `its bond is ${formatEther(bond)}, and the account holds that of ${payable} only`;
      return { bonds, undisputed: waiting.slice(Number(payable)).map(({ id }) => ({ claim: id, why })) };
    } catch (error) {
      const why = reasonOf(error);
      return { bonds, undisputed: why === undefined ? [] : waiting.map(({ id }) => ({ claim: id, why })) };
    }
  }

  /**
   * Has a claim executed, and disputed if it is wrong and the credit covers a bond. Called in each round.
   * @returns why the claim is not judged from this account, if so
   */
  async judge({ id }: Pick<ClaimRecord, "id">): Promise<Undisputed | undefined> {
    try {
      await requirePlainAccount(this.#options.session);
    } catch (error) {
      const why = reasonOf(error);
      return why === undefined ? undefined : { claim: id, why };
    }
    this.#claims.add(id);
    this.#running ??= this.#watch();
    return undefined;
  }

  /** Returns the claims whose games continue without the process: the bonds may be lost. */
  get left(): Hex[] {
    return this.#latest.map(({ id }) => id);
  }

  /** Ends the watcher. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running?.catch(() => undefined);
  }

  #isPlayed({ games }: ClaimRecord): boolean {
    const { address } = this.#options.session.sender;
    return games.some(({ challenger, closed }) => closed === undefined && isAddressEqual(challenger, address));
  }

  /** Moves bonds into the account's credit, up to the funds held. @returns the number of covered bonds */
  async #pay(bonds: bigint): Promise<bigint> {
    const { session } = this.#options;
    const { vault, asset, sender, deployment } = session;
    const { credit } = await vault.accountOf(sender.address);
    const held = credit + (await asset.balanceOf(sender.address));
    const payable = (held < bonds ? held : bonds) / deployment.bond;
    await ensureCredit(session, payable * deployment.bond, payable * deployment.bond);
    return payable;
  }

  #watch(): Promise<void> {
    const log = this.#options.log ?? pino({ level: "silent" });
    const running = runWatcher({
      ...{ ...this.#options, log, claims: this.#claims, mode: "defend", signal: this.#stop.signal },
    });
    // After any end of the watcher, the next round starts another watcher.
    return running.finally(() => void (this.#running = undefined)).catch(() => undefined);
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
