import type { Hex, LocalAccount } from "viem";
import type { Answered } from "../../../src/parties/tickets/payer.ts";
import { RefusedError } from "../../../src/parties/tickets/errors.ts";
import { Payer } from "../../../src/parties/tickets/payer.ts";
import { PayerLedger } from "../../../src/parties/tickets/payerLedger.ts";
import type { TicketSession } from "../../../src/parties/tickets/ticketSession.ts";
import type { SoakProgram } from "../programs.ts";
import { FACE, ONE_IN, type TicketServer } from "./ticketServer.ts";
import type { Town } from "./town.ts";

/**
 * honest: pays; vanisher: takes answers without paying; poor: deposits less than a face; overIssuer: deposits a single
 * face and immediately requests the money back; skewed: runs minutes off the chain's clock; double: signs two tickets
 * about an answer.
 */
export type PayerKind = "honest" | "vanisher" | "poor" | "overIssuer" | "skewed" | "double";

/** Deposits for the worker, wei. */
const DEPOSIT: Record<PayerKind, bigint> = {
  ...{ honest: 100n * FACE, vanisher: 100n * FACE, poor: FACE - 1n, overIssuer: FACE },
  ...{ skewed: 100n * FACE, double: 100n * FACE },
};

/** A payer that runs the users' client. The soak kills the payer now and then. */
export class TicketPayer {
  /** The times at which the payer received unpaid answers, unix seconds. */
  readonly unpaid: number[] = [];
  #ledger!: PayerLedger;
  #payer!: Payer;

  readonly town: Town;
  readonly kind: PayerKind;
  readonly at: TicketSession;
  readonly server: TicketServer;
  readonly path: string;
  readonly skew: number;

  private constructor(
    town: Town,
    kind: PayerKind,
    at: TicketSession,
    server: TicketServer,
    path: string,
    skew: number,
  ) {
    this.town = town;
    this.kind = kind;
    this.at = at;
    this.server = server;
    this.path = path;
    this.skew = skew;
  }

  /** @param skew Seconds from the chain's clock to the payer's clock, positive if the payer runs ahead. */
  static async open(
    town: Town,
    kind: PayerKind,
    account: LocalAccount,
    server: TicketServer,
    skew: number,
  ): Promise<TicketPayer> {
    const { pledges, market } = town;
    const { address } = account;
    const deposit = DEPOSIT[kind];
    await market.must("payer", address, pledges.onToken("mint", [address, deposit]));
    await market.must("payer", address, pledges.onToken("approve", [pledges.tickets, deposit]));
    const call = pledges.onTickets("deposit", [address, server.at.account.address, deposit]);
    await market.must("payer", address, call);
    const payer = new TicketPayer(town, kind, await pledges.open(account), server, town.file(), skew);
    await payer.#start();
    return payer;
  }

  get deposit(): bigint {
    return DEPOSIT[this.kind];
  }

  get ledger(): PayerLedger {
    return this.#ledger;
  }

  /** Asks the worker. @returns the status of a refusal, or another error's code, in place of an answer */
  async ask({ known, inputs }: SoakProgram): Promise<Answered | string> {
    try {
      return await this.#payer.ask(known, inputs);
    } catch (error) {
      if (error instanceof RefusedError) return String(error.status);
      return (error as { code?: string }).code ?? String(error);
    }
  }

  /** @returns the status of a refusal */
  async pay(digest: Hex): Promise<string | undefined> {
    try {
      await this.#payer.pay(digest);
      return undefined;
    } catch (error) {
      if (error instanceof RefusedError) return String(error.status);
      throw error;
    }
  }

  /** Kills the payer and starts it again: it pays what it may not have paid. @returns how many answers that are */
  async restart(): Promise<number> {
    this.#ledger.end();
    await this.#start();
    return this.#payer.payRest();
  }

  close(): void {
    this.#ledger.end();
  }

  async #start(): Promise<void> {
    this.#ledger = await PayerLedger.open(this.path);
    const { at, skew, server, town } = this;
    this.#payer = await Payer.open({
      ...{ at, ledger: this.#ledger, url: server.url, limits: { face: FACE, oneIn: ONE_IN } },
      clock: () => town.market.chain.now + skew,
    });
  }
}
