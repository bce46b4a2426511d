import { Hono } from "hono";
import type { LocalAccount } from "viem";
import type { Logger } from "../../../src/base/log.ts";
import { ProgramLibrary } from "../../../src/runs/programLibrary.ts";
import { AnswerService } from "../../../src/parties/tickets/answerService.ts";
import { Cashier, type Cashed } from "../../../src/parties/tickets/cashier.ts";
import { endpointOf, listen, type Endpoint } from "../../../src/parties/tickets/http.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import { loadFindSigner } from "../../../src/parties/tickets/signatures.ts";
import { WorkerLedger } from "../../../src/parties/tickets/workerLedger.ts";
import type { SoakProgram } from "../programs.ts";
import { honestWorker, lyingWorker, type SoakWorker } from "../workers.ts";
import type { Town } from "./town.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { ETHER } from "../../protocol/deployWorld.ts";

/** The face of a winning ticket, wei. */
export const FACE = ETHER / 100n;

/** A ticket wins once in so many times. */
export const ONE_IN = 3;

/** liar: half the answers are wrong; garbage: all answers are noise, and the worker hopes that no ticket wins. */
export type ServerKind = "honest" | "liar" | "garbage";

/** A worker that serves answers with the users' services. The soak kills the worker now and then. */
export class TicketServer {
  /** The source of the service's next answer. */
  #answering: SoakWorker | undefined;
  #item = 0;
  #service!: AnswerService;
  #ledger!: WorkerLedger;
  #cashier!: Cashier;
  #endpoint!: Endpoint;
  #app!: Hono;
  /** Why winners waited, of this worker's cashier. */
  readonly waits: string[] = [];

  readonly town: Town;
  readonly kind: ServerKind;
  readonly at: TicketSession;
  readonly path: string;
  readonly skew: number;

  private constructor(town: Town, kind: ServerKind, at: TicketSession, path: string, skew: number) {
    this.town = town;
    this.kind = kind;
    this.at = at;
    this.path = path;
    this.skew = skew;
  }

  /**
   * Opens a server for a pledged account. @param skew Seconds from the chain's clock to the server's clock, positive if
   * the server runs ahead.
   */
  static async open(town: Town, kind: ServerKind, account: LocalAccount, skew: number): Promise<TicketServer> {
    const { pledges, market } = town;
    const { collateral } = market.chain.parameters;
    await pledges.fund(account.address, collateral);
    await market.must("worker", account.address, pledges.onVault("stake", [collateral]));
    await market.must("worker", account.address, pledges.venue.onMarket("pledge", []));
    const server = new TicketServer(town, kind, await pledges.open(account), town.file(), skew);
    await server.#start();
    const app = new Hono().all("*", (c) => server.#app.fetch(c.req.raw));
    server.#endpoint = await listen(app, 0);
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#endpoint.port}`;
  }

  get ledger(): WorkerLedger {
    return this.#ledger;
  }

  get #programs(): ProgramLibrary {
    return ProgramLibrary.of(this.town.answerable.map(({ known }) => known));
  }

  /** Chooses the next answer to a question. @returns the worker that can defend the answer, or undefined for noise */
  prepare(program: SoakProgram): SoakWorker | undefined {
    const { prng, chain } = this.town.market;
    const { arityBits } = chain.parameters;
    this.#item = 0;
    const honest = honestWorker(program, arityBits);
    if (this.kind === "garbage") this.#answering = undefined;
    else if (this.kind === "honest") this.#answering = honest;
    else if (prng.below(2) === 0) this.#answering = { ...honest, kind: "fickle" };
    else
      do this.#answering = lyingWorker(prng, program, arityBits);
      while (this.#answering.published === undefined);
    return this.#answering;
  }

  /** Kills the worker and starts it again: what it knows is in its ledger. */
  async restart(): Promise<void> {
    this.#ledger.end();
    await this.#start();
  }

  /** Brings winners as far as they come now. */
  cash(): Promise<Cashed> {
    return this.#cashier.round();
  }

  async close(): Promise<void> {
    await this.#service.stop();
    await this.#endpoint.close();
    this.#ledger.end();
  }

  async #start(): Promise<void> {
    const { at, path, skew, town } = this;
    this.#ledger = await WorkerLedger.open(path);
    const log = {
      warn: ({ reason }: { reason: string }) => void this.waits.push(reason),
      error: () => undefined,
    } as unknown as Logger;
    this.#cashier = new Cashier({ at, log, programs: this.#programs, ledger: this.#ledger });
    this.#service = new AnswerService({
      ...{ at, ledger: this.#ledger, programs: this.#programs, execute: this.#execute },
      findSigner: await loadFindSigner(),
      ...{ price: { face: FACE, oneIn: ONE_IN }, maxBodyBytes: 2 ** 20, clock: () => town.market.chain.now + skew },
      maxUnpaid: 1,
    });
    this.#app = endpointOf(this.#service);
  }

  /** The tensors of the item that is next: they were computed before, right or wrong, or are noise. */
  readonly #execute: Execute = ({ program, programRoot }) => {
    const item = this.#item++;
    const published = this.#answering?.published;
    const { prng } = this.town.market;
    if (published !== undefined)
      return Promise.resolve(program.steps.map((_, s) => Uint8Array.from(published.item(item).trace.tensor(s))));
    const { right } = this.town.answerable.find(({ known }) => known.model.programRoot === programRoot)!;
    const noise = (length: number): Uint8Array => Uint8Array.from({ length }, () => prng.below(256));
    return Promise.resolve(program.steps.map((_, s) => noise(right.item(0).trace.tensor(s).length)));
  };
}
