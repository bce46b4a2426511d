import type { Hex } from "viem";
import { pino } from "pino";
import { runWatcher } from "../../watcher/watcher.ts";
import { requirePlainAccount } from "../player/plainAccount.ts";
import { ProgramLibrary } from "../player/programLibrary.ts";
import { ensureCredit } from "./funds.ts";
import type { DispatchOptions } from "./options.ts";

/** Disputes claims that a check found wrong, as a watcher of these claims alone. */
export class Disputes {
  readonly #options: DispatchOptions;
  readonly #claims = new Set<Hex>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: DispatchOptions) {
    this.#options = options;
  }

  /** Has a claim disputed, with the account's own bond. @throws ShortOfFundsError, NotPlainAccountError */
  async begin(claim: Hex): Promise<void> {
    const { session, batch, execute, intervalMs } = this.#options;
    const { bond } = session.deployment;
    await requirePlainAccount(session);
    await ensureCredit(session, bond, bond);
    this.#claims.add(claim);
    this.#running ??= runWatcher({
      session,
      programs: ProgramLibrary.of([batch.program]),
      execute,
      mode: "defend",
      claims: this.#claims,
      intervalMs,
      signal: this.#stop.signal,
      log: pino({ level: "silent" }),
    });
    // What it fails with after its start is told by the claim, which becomes final.
    this.#running.catch(() => undefined);
  }

  /** Ends the watcher. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running?.catch(() => undefined);
  }
}
