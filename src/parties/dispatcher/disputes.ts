import { formatEther, isAddressEqual, type Hex } from "viem";
import { pino } from "pino";
import { runWatcher } from "../../../watcher/watcher.ts";
import { RefuteError } from "../../base/errors.ts";
import type { inTurn } from "../../base/inTurn.ts";
import type { ClaimRecord } from "../../chain/market/history.ts";
import { requirePlainAccount } from "../role/plainAccount.ts";
import { ProgramLibrary } from "../../runs/programLibrary.ts";
import { ensureCredit } from "./funds.ts";
import type { DispatchOptions } from "./options.ts";

/** A wrong claim that cannot be disputed now, and why. */
type Undisputed = { claim: Hex; why: string };

/** Disputes claims that a check found wrong, as a watcher of these claims alone. */
export class Disputes {
  readonly #options: DispatchOptions;
  readonly #paying: ReturnType<typeof inTurn>;
  readonly #claims = new Set<Hex>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** The claims that were under dispute in the latest round. */
  #latest: readonly ClaimRecord[] = [];

  /** @param paying What changes the account's credit waits for each other there. */
  constructor(options: DispatchOptions, paying: ReturnType<typeof inTurn>) {
    [this.#options, this.#paying] = [options, paying];
  }

  /**
   * Has claims disputed, each with a bond from the account's credit. It is called in each round: bonds come back, and
   * what was lacking may be there.
   * @param wrong All claims that are wrong and can be disputed.
   * @returns the bonds of claims without a game of this account: they must stay in its credit
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
      if (!(error instanceof RefuteError)) throw error;
      // Without an answer from a node, the next round tries again.
      const undisputed = error.retryable ? [] : waiting.map(({ id }) => ({ claim: id, why: error.message }));
      return { bonds, undisputed };
    }
  }

  /** The claims whose games go on without this process, so that their bonds may be lost. */
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

  /** Has as many of the bonds in the account's credit as it holds. @returns how many */
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
    const { session, batch, execute, intervalMs } = this.#options;
    const running = runWatcher({
      ...{ session, execute, intervalMs, claims: this.#claims, mode: "defend", signal: this.#stop.signal },
      programs: ProgramLibrary.of([batch.program]),
      log: pino({ level: "silent" }),
    });
    // Whatever ends it, the next round begins another one.
    return running.finally(() => void (this.#running = undefined)).catch(() => undefined);
  }
}
