import type { Hex } from "viem";
import { PledgeStatus, type Claim, type Ticket } from "../../../src/chain/structs.ts";
import { programFacts } from "../../../src/dispute/run/execution.ts";
import type { Answered } from "../../../src/parties/tickets/payer.ts";
import { landClaim } from "../../../src/parties/tickets/landClaim.ts";
import { digestOf, drawOf, oddsOf, typedData } from "../../../src/parties/tickets/typedData.ts";
import { drawChallengers } from "../challengers.ts";
import { Disputes, type Ending } from "../disputes.ts";
import { errorName } from "../market.ts";
import type { SoakProgram } from "../programs.ts";
import type { SoakWorker } from "../workers.ts";
import { DEPOSIT_DELAY, LIFETIME, type Landed } from "./pledges.ts";
import { TicketPayer, type PayerKind } from "./ticketPayer.ts";
import { FACE, ONE_IN, TicketServer, type ServerKind } from "./ticketServer.ts";
import type { Town } from "./town.ts";

/** Honest clocks differ from the chain's by at most so many seconds. */
const SKEW = 25;

/** A given answer, and the worker that can defend the answer. */
type Given = { payer: TicketPayer; program: SoakProgram; worker: SoakWorker; wins: boolean; ending?: Ending };

/** One worker that answers some payers off chain, until everybody has the money back. */
export class TicketDeal {
  readonly #town: Town;
  readonly #kind: ServerKind;
  readonly #watched: boolean;
  readonly #given = new Map<Hex, Given>();
  readonly #payers: TicketPayer[] = [];
  #server!: TicketServer;
  #turns: number;
  #open = 0;
  /** Ticket faces due to the worker by right, wei. */
  #earned = 0n;
  #done: () => void = () => undefined;

  constructor(town: Town) {
    this.#town = town;
    const { prng } = town.market;
    this.#kind = prng.pick(["honest", "honest", "liar", "garbage"] as const);
    this.#watched = town.drawWatched();
    this.#turns = 4 + prng.below(12);
  }

  /** @param done Called when everybody has the money back. */
  begin(time: number, done: () => void): void {
    this.#done = done;
    this.#plan(time, () => this.#begin());
  }

  #plan(time: number, run: () => Promise<void>): void {
    this.#town.plan(time, run);
  }

  #after(seconds: number, run: () => Promise<void>): void {
    this.#plan(this.#town.market.chain.now + seconds, run);
  }

  get #worker() {
    return this.#server.at.account.address;
  }

  async #begin(): Promise<void> {
    const town = this.#town;
    const { prng } = town.market;
    const skew = (): number => prng.below(2 * SKEW + 1) - SKEW;
    this.#server = await TicketServer.open(town, this.#kind, await town.pledges.newAccount(), skew());
    const others = ["honest", "vanisher", "poor", "overIssuer", "skewed", "double"] as const;
    const kinds: PayerKind[] = ["honest", prng.pick(others), prng.pick(others)];
    for (const kind of kinds) {
      const off = kind === "skewed" ? (90 + prng.below(400)) * (prng.below(2) === 0 ? 1 : -1) : skew();
      this.#payers.push(await TicketPayer.open(town, kind, await town.pledges.newAccount(), this.#server, off));
    }
    this.#after(1, () => this.#turn());
  }

  /** Somebody asks and pays, or not; then the winners so far are brought further. */
  async #turn(): Promise<void> {
    const { market } = this.#town;
    const { prng } = market;
    if (prng.below(5) === 0) await this.#server.restart();
    await this.#ask(prng.pick(this.#payers));
    if (prng.below(5) === 0) await this.#server.restart();
    // A winner has to be put on chain while its claim lives.
    this.#after(1 + prng.below(LIFETIME - 4 * SKEW), () => this.#cash());
    this.#turns--;
    if (this.#turns > 0) this.#after(1 + prng.below(400), () => this.#turn());
    else this.#after(SKEW + 600, () => this.#cash().then(() => this.#windDown()));
  }

  async #ask(payer: TicketPayer): Promise<void> {
    const { market, answerable } = this.#town;
    const { prng, totals, chain } = market;
    const program = prng.pick(answerable);
    const worker = this.#server.prepare(program);
    const stopped = await this.#isStopped();
    const isOwed = payer.unpaid.some((time) => chain.now - time < LIFETIME - 2 * SKEW);
    // An unpaid answer keeps its place until the worker forgets the answer.
    const mayBeOwed = payer.unpaid.length > 0;
    const answered = await payer.ask(program);
    totals.requests++;
    if (typeof answered === "string") {
      totals.count(totals.tickets, `${payer.kind}: refused with ${answered}`);
      const isUsual = payer.kind === "honest" || payer.kind === "double";
      if (isUsual && !stopped && !mayBeOwed) market.fault(`a payer that pays is refused with ${answered}`);
      return;
    }
    if (payer.kind === "poor" || payer.kind === "skewed") market.fault(`a ${payer.kind} payer is given an answer`);
    if (isOwed) market.fault("a payer that has not paid is given another answer");
    const kept = this.#server.ledger.find(answered.digest)!;
    const noise: SoakWorker = {
      ...{ kind: "garbage", right: false, root: answered.claim.root, nodes: kept.nodes, published: undefined },
      answer: () => ({ kind: "stall" }),
    };
    const given: Given = { payer, program, worker: worker ?? noise, wins: false };
    this.#given.set(answered.digest, given);
    const isRight = answered.claim.root === program.right.root;
    totals.count(totals.tickets, `${payer.kind}: ${isRight ? "right" : "wrong"} answer of ${this.#kind}`);
    if (given.worker.right !== isRight) market.fault("another answer than was prepared");
    if (payer.kind === "vanisher") return void payer.unpaid.push(chain.now);
    // An honest payer computes a half of the answers itself, and pays no wrong one.
    if (!isRight && payer.kind === "honest" && prng.below(2) === 0) {
      payer.unpaid.push(chain.now);
      return this.#refute(given, answered);
    }
    if (payer.kind === "double") await this.#signTwice(given, answered);
    if (prng.below(4) === 0) await this.#payAfterAKill(payer, answered);
    else {
      const refusal = await payer.pay(answered.digest);
      if (refusal !== undefined) market.fault(`a ticket is refused with ${refusal}`);
    }
    this.#noteDraw(given, answered);
    if (payer.kind === "overIssuer") await this.#takeBack(payer);
  }

  async #payAfterAKill(payer: TicketPayer, { digest }: Answered): Promise<void> {
    const { market } = this.#town;
    if (market.prng.below(2) === 0) await payer.pay(digest);
    await payer.restart();
    if (payer.ledger.find(digest)?.sent !== true) market.fault("a payer that was killed has not paid");
  }

  /** Whether the ticket wins, by what both sides signed; the worker must know the same. */
  #noteDraw(given: Given, { digest }: Answered): void {
    const { market } = this.#town;
    const { secret, ticket, state } = this.#server.ledger.find(digest)!;
    given.wins = drawOf(secret, digestOf(this.#server.at.at, "Ticket", ticket!)) < oddsOf(ONE_IN);
    if (given.wins !== (state === "won")) market.fault(`a ticket that ${given.wins ? "wins" : "loses"} is ${state}`);
    market.totals.count(market.totals.tickets, given.wins ? "tickets that win" : "tickets that lose");
    if (given.wins && this.#kind === "honest") this.#earned += FACE;
  }

  /** The payer requests the deposit back right after signing. Winning tickets are paid nevertheless. */
  async #takeBack(payer: TicketPayer): Promise<void> {
    const { pledges, market } = this.#town;
    const { free } = await payer.at.tickets.depositOf(payer.at.account.address, this.#worker);
    if (free === 0n) return;
    const call = pledges.onTickets("requestWithdrawal", [this.#worker, free]);
    await market.must("payer", payer.at.account.address, call);
  }

  /** A payer signs a worthless ticket in addition to the real ticket, and tries to land the worthless ticket first. */
  async #signTwice(given: Given, { digest, claim }: Answered): Promise<void> {
    const { pledges, market } = this.#town;
    const { account, at } = given.payer.at;
    const ticket: Ticket = { claim: digest, face: 1n, odds: 2n ** 256n - 1n, expiry: 2n ** 40n, nonce: digest };
    const signature = await account.signTypedData(typedData(at, "Ticket", ticket));
    const { secret, signature: signed } = this.#server.ledger.find(digest)!;
    const inputs = given.program.inputs.roots;
    const evidence = { program: programFacts(given.program.known.commitment), inputRoots: inputs, inputs: [] };
    const all = { ...evidence, nodes: given.worker.nodes };
    const call = pledges.onTickets("submitAndCash", [claim, signed, all, ticket, signature, secret]);
    const refusal = await market.chain.refusal(account.address, call);
    if (refusal === undefined) market.fault("a payer cashes a ticket of its own");
    else market.totals.count(market.totals.refusals, `cash by a payer: ${errorName(refusal)}`);
  }

  async #isStopped(): Promise<boolean> {
    return (await this.#server.at.pledges.pledgeOf(this.#worker)).status === PledgeStatus.stopped;
  }

  /** A payer puts a wrong answer on chain, to let watchers refute it. */
  async #refute(given: Given, answered: Answered): Promise<void> {
    const { totals, chain } = this.#town.market;
    const { payer, program } = given;
    const { digest, claim } = answered;
    // The worker's clock may be ahead of the chain's.
    if (BigInt(chain.now) < claim.issued) return this.#after(SKEW + 1, () => this.#refute(given, answered));
    if (await this.#isStopped()) return;
    totals.count(totals.tickets, "wrong answers put on chain by payers");
    await landClaim(payer.at, payer.ledger.find(digest)!, program.known);
    this.#dispute();
  }

  /** Winners are put on chain and cashed, and those whose claims are final are paid. */
  async #cash(): Promise<void> {
    const { market } = this.#town;
    const { lost, cashed } = await this.#server.cash();
    market.totals.count(market.totals.tickets, "rounds of cashiers");
    if (this.#kind === "honest" && lost.length > 0) market.fault(`an honest worker lost ${lost.length} winners`);
    if (cashed.length > 0 || lost.length > 0) this.#dispute();
    if (this.#server.waits.length > 0 && this.#kind === "honest")
      market.fault(`a winner waits: ${this.#server.waits.join("; ")}`);
    this.#server.waits.length = 0;
  }

  /** Has what was just put on chain disputed. */
  #dispute(): void {
    for (const landed of this.#town.pledges.landed()) this.#disputed(landed);
  }

  #disputed({ digest, claimId, job }: Landed): void {
    const { market, pledges } = this.#town;
    const given = this.#given.get(digest)!;
    const { worker, program } = given;
    const { collateral } = market.chain.parameters;
    const claim: Claim = { job, worker: this.#worker, root: worker.root, collateral };
    const watched = this.#watched || given.payer.kind === "honest";
    const subject = { program, worker, claim, claimId, venue: pledges.venue, watched };
    this.#open++;
    market.totals.jobs++;
    const disputes = new Disputes(market, subject, async (ending) => {
      given.ending = ending;
      this.#open--;
      await this.#cash();
    });
    disputes.begin(drawChallengers(market, program, worker, watched));
  }

  /** Once no claim is open, everybody takes the money back. */
  async #windDown(): Promise<void> {
    const { market, pledges } = this.#town;
    if (this.#open > 0 || this.#server.ledger.winners().length > 0)
      return this.#after(1_000, () => this.#cash().then(() => this.#windDown()));
    const stopped = await this.#isStopped();
    if (stopped && this.#kind === "honest") market.fault("an honest worker is stopped");
    if (!stopped) await market.must("worker", this.#worker, pledges.venue.onMarket("requestRelease", []));
    for (const payer of this.#payers) await this.#takeBack(payer);
    this.#after(DEPOSIT_DELAY + LIFETIME, () => this.#withdraw(stopped));
  }

  async #withdraw(stopped: boolean): Promise<void> {
    const { market, pledges } = this.#town;
    if (!stopped) await market.must("worker", this.#worker, pledges.venue.onMarket("release", []));
    const earnings = await this.#server.at.tickets.earnings(this.#worker);
    if (earnings > 0n) await market.must("worker", this.#worker, pledges.onTickets("withdrawEarnings", [this.#worker]));
    for (const payer of this.#payers) {
      const { address } = payer.at.account;
      const { withdrawing } = await payer.at.tickets.depositOf(address, this.#worker);
      if (withdrawing > 0n) await market.must("payer", address, pledges.onTickets("withdraw", [this.#worker]));
    }
    await this.#judge();
    if (!stopped) return this.#close();
    // The rest of a stopped worker's pledge, once every game about it can be over.
    const { maxWindow, baseClock, maxWork, rate } = market.chain.parameters;
    this.#after(maxWindow + 2 * (baseClock + Number((2n * maxWork) / rate)), async () => {
      const { left } = await this.#server.at.pledges.pledgeOf(this.#worker);
      if (left > 0n)
        await market.must("stranger", market.parasites[0]!, pledges.venue.onMarket("sweep", [this.#worker]));
      await this.#close();
    });
  }

  /** Checks that everybody has exactly the money due, to the wei. */
  async #judge(): Promise<void> {
    const { market } = this.#town;
    const { totals } = market;
    const earned = await market.tokensOf(this.#worker);
    if (this.#kind === "honest" && earned !== this.#earned) {
      totals.honestLoss += this.#earned > earned ? this.#earned - earned : 0n;
      market.fault(`an honest worker of answers has ${earned}, not ${this.#earned}`);
    }
    let paid = 0n;
    for (const payer of this.#payers) {
      const has = await market.tokensOf(payer.at.account.address);
      const winners = [...this.#given.values()].filter((one) => one.payer === payer && one.ending === "finalised");
      const max = FACE * BigInt(winners.filter(({ wins }) => wins).length);
      const spent = payer.deposit - has;
      paid += spent;
      if (spent <= max) continue;
      totals.honestLoss += payer.kind === "honest" ? spent - max : 0n;
      market.fault(`a payer (${payer.kind}) spent ${spent}, and its winners are ${max}`);
    }
    if (paid !== earned) market.fault(`payers spent ${paid}, and the worker earned ${earned}`);
    const unpaid = this.#payers.reduce((sum, payer) => sum + payer.unpaid.length, 0);
    if (this.#kind === "honest") totals.unpaidRequests += unpaid;
  }

  async #close(): Promise<void> {
    for (const payer of this.#payers) payer.close();
    await this.#server.close();
    this.#done();
  }
}
