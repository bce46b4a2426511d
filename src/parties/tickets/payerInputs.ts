import type { Hex } from "viem";
import type { JobRecord } from "../../chain/market/history.ts";
import type { HeldInputs } from "../../runs/executions.ts";
import type { Logger } from "../../base/log.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import { heldInputs } from "../../runs/inputs/heldInputs.ts";
import { PayerLedger } from "./payerLedger.ts";

/**
 * Time until the next look into a ledger for a missing root, or while another process held the ledger, milliseconds.
 */
const AGAIN_MS = 10_000;

/**
 * The inputs of pledged claims from a payer's ledger, for a watcher next to `refute tickets ask`. Only one process can
 * open the file at a time: each look opens the file briefly.
 */
export class PayerInputs implements HeldInputs {
  readonly #path: string;
  readonly #log: Logger;
  readonly #held: HeldInputs;
  readonly #found = new Map<Hex, readonly Uint8Array[]>();
  /** When was looked for a root, milliseconds; undefined while the first look is under way. */
  readonly #looked = new Map<Hex, number | undefined>();
  /** The roots sought by the current look. */
  readonly #due = new Set<Hex>();
  #look: Promise<void> | undefined;

  /** @param path Of a ledger that is there. */
  constructor(path: string, log: Logger) {
    [this.#path, this.#log] = [path, log];
    this.#held = heldInputs((root) => this.#find(root));
  }

  of(job: JobRecord): RunInputs | undefined {
    return this.#held.of(job);
  }

  awaits(job: JobRecord): boolean {
    const root = job.job.inputsRoot;
    return this.of(job) === undefined && this.#looked.has(root) && this.#looked.get(root) === undefined;
  }

  keep(jobs: ReadonlyMap<Hex, JobRecord>): void {
    const known = new Set([...jobs.values()].map(({ job }) => job.inputsRoot));
    for (const root of this.#found.keys()) if (!known.has(root)) this.#found.delete(root);
    for (const root of this.#looked.keys()) if (!known.has(root)) this.#looked.delete(root);
  }

  /** Resolves when nothing is looked for any more. */
  async settled(): Promise<void> {
    while (this.#look !== undefined) await this.#look;
  }

  #find(root: Hex): readonly Uint8Array[] | undefined {
    const found = this.#found.get(root);
    const isDue = !this.#looked.has(root) || (this.#looked.get(root) ?? Infinity) + AGAIN_MS < performance.now();
    if (found !== undefined || !isDue) return found;
    this.#looked.set(root, this.#looked.has(root) ? performance.now() : undefined);
    this.#due.add(root);
    this.#look ??= this.#lookForAll();
    return undefined;
  }

  /** One look for all roots requested meanwhile: two simultaneous looks would block each other's file access. */
  async #lookForAll(): Promise<void> {
    try {
      const ledger = await PayerLedger.open(this.#path);
      try {
        for (const root of this.#due) {
          const found = ledger.inputsOf(root);
          if (found !== undefined) this.#found.set(root, found);
        }
      } finally {
        ledger.end();
      }
    } catch (error) {
      this.#log.warn({ reason: (error as Error).message }, "the payer's ledger cannot be read; looking again later");
    }
    for (const root of this.#due) this.#looked.set(root, performance.now());
    this.#due.clear();
    this.#look = undefined;
  }
}
