import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import type { Prng } from "../../random/prng.ts";
import { SoakMarket, type Cast } from "../market.ts";
import { soakProgram, type SoakProgram } from "../programs.ts";
import type { Totals } from "../totals.ts";
import { honestWorker, lyingWorker, type SoakWorker } from "../workers.ts";
import { Panels } from "./panels.ts";
import { Pledges } from "./pledges.ts";

/** The last requester never acts again once it has posted. */
const TOWN: Cast = { requesters: 3, honestWorkers: 5, watchers: 2, liars: 4, parasites: 4 };

/** Programs of a town: they are drawn and executed once, and asked for many times. */
const PROGRAMS = 16;

/** One in `UNWATCHED` deals has no honest watcher. */
const UNWATCHED = 10;

/** A chain with deals of every kind, and the amounts that everybody must have in the end. */
export class Town {
  readonly market: SoakMarket;
  readonly panels: Panels;
  readonly pledges: Pledges;
  readonly programs: readonly SoakProgram[];
  /** Those that are asked for answers. */
  readonly answerable: readonly SoakProgram[];
  /** The folder for ledgers. */
  readonly #folder = mkdtempSync(join(tmpdir(), "refute-soak-"));
  #files = 0;
  /** Rightful gains or costs of honest accounts, wei in their ledger. */
  readonly due = new Map<Address, bigint>();
  /** Payments of panel posters for results, wei. */
  readonly #spent = new Map<Address, bigint>();
  /** Workers that have taken a job in a group, by requester and group. */
  readonly taken = new Set<string>();
  #groups = 0;

  private constructor(market: SoakMarket, panels: Panels, pledges: Pledges) {
    [this.market, this.panels, this.pledges] = [market, panels, pledges];
    const programs = Array.from({ length: PROGRAMS }, () => soakProgram(market.prng));
    const isAnswered = ({ form }: SoakProgram): boolean => form === "answer";
    while (!programs.some(isAnswered)) programs.push(soakProgram(market.prng));
    [this.programs, this.answerable] = [programs, programs.filter(isAnswered)];
  }

  static async create(prng: Prng, totals: Totals, name: string): Promise<Town> {
    const market = await SoakMarket.create(prng, totals, name, TOWN);
    const panels = await Panels.deploy(market, market.requesters);
    return new Town(market, panels, await Pledges.deploy(market));
  }

  /** Somebody without money. */
  get pauper(): Address {
    return this.market.chain.accounts[this.market.players.length]!;
  }

  /** A path for a ledger. */
  file(): string {
    return join(this.#folder, `${this.#files++}.db`);
  }

  get workers(): readonly Address[] {
    return [...this.market.honestWorkers, ...this.market.liars];
  }

  /** Whether an honest watcher looks at a deal. */
  drawWatched(): boolean {
    return this.market.prng.below(UNWATCHED) !== 0;
  }

  /**
   * Returns an account's work on a job. Honest workers execute the job; half of the other workers' claims are wrong.
   */
  workerAt(address: Address, program: SoakProgram): SoakWorker {
    const { prng, chain, honestWorkers } = this.market;
    const { arityBits } = chain.parameters;
    const isHonest = honestWorkers.includes(address);
    return isHonest ? honestWorker(program, arityBits) : lyingWorker(prng, program, arityBits);
  }

  /** A number for a group of jobs: four follow each other in one. */
  nextGroup(): number {
    return Math.floor(this.#groups++ / 4) + 1;
  }

  /** Notes an account's gain, or payment if negative. */
  owe(address: Address, amount: bigint): void {
    this.due.set(address, (this.due.get(address) ?? 0n) + amount);
  }

  /** Notes a panel poster's payment for results. */
  spend(address: Address, amount: bigint): void {
    this.#spent.set(address, (this.#spent.get(address) ?? 0n) + amount);
  }

  /** The accounts in random order. */
  shuffled(accounts: readonly Address[]): Address[] {
    const left = [...accounts];
    return accounts.map(() => left.splice(this.market.prng.below(left.length), 1)[0]!);
  }

  plan(time: number, run: () => Promise<void>): void {
    this.market.agenda.plan(time, run);
  }

  /** Judges what everybody has, and closes the chain. */
  async close(): Promise<void> {
    const { market } = this;
    const { requesters, honestWorkers, watchers, totals } = market;
    for (const address of [...requesters, ...honestWorkers, ...watchers]) {
      const gained = await market.gained(address);
      const due = this.due.get(address) ?? 0n;
      // Those who are refuted and those who challenge without cause may leave others more than they are owed.
      if (gained < due) totals.honestLoss += due - gained;
      const isExact = requesters.includes(address);
      if (gained < due || (isExact && gained !== due)) market.fault(`${address} has ${gained} more, not ${due}`);
    }
    await this.panels.close(market, requesters, this.#spent);
    await this.pledges.close();
    rmSync(this.#folder, { recursive: true });
    await market.close();
  }
}
