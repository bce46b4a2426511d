import { encodeAbiParameters, keccak256, parseEventLogs, toHex, zeroHash, type Address, type Hex } from "viem";
import type { Claim, ClaimKey, Job, JobRequest, Terms } from "../../../src/chain/structs.ts";
import { claimKeyOf, jobIdOf } from "../../../src/chain/market/ids.ts";
import { completeTerms } from "../../../src/parties/requester/postJob.ts";
import { deliveryOf } from "../../../src/parties/worker/settlement.ts";
import { drawChallengers } from "../challengers.ts";
import { Disputes, type Ending } from "../disputes.ts";
import { errorName } from "../market.ts";
import type { SoakProgram } from "../programs.ts";
import { requestOf } from "../request.ts";
import { lyingWorker, type SoakWorker } from "../workers.ts";
import type { Town } from "./town.ts";
import { ETHER } from "../../protocol/deployWorld.ts";

const CLAIM_SECONDS = 600;
const MAX_SEATS = 4;
const OUTCOMES = ["None", "Open", "Agreed", "Survived", "Split", "Failed"] as const;
type Outcome = (typeof OUTCOMES)[number];

/**
 * The members of a panel. mixed: anybody; colluders: some share a lie, others are honest; native: all err alike, like
 * workers with the same kernels.
 */
type Company = "honest" | "mixed" | "colluders" | "native";

/** The fate of a seat. absent: nobody takes the seat; late: the worker seals nothing; shut: the seal stays shut. */
type Conduct = "opens" | "absent" | "late" | "shut";

type Seat = {
  job: Job;
  conduct: Conduct;
  address: Address;
  worker: SoakWorker;
  salt: Hex;
  claim?: Claim;
  ending?: Ending;
  isOver: boolean;
};

/** A panel, from the post until the fees are paid or returned. */
export class PanelDeal {
  readonly #town: Town;
  readonly #program: SoakProgram;
  readonly #poster: Address;
  readonly #watched: boolean;
  readonly #company: Company;
  /** The common lie of all lying seats. */
  readonly #lie: SoakWorker;
  readonly #free: Address[];
  readonly #seats: Seat[] = [];
  #request!: JobRequest;
  #terms!: Terms;
  #audit = 0;
  #agreed = false;
  #asks = 0;
  #done: () => void = () => undefined;

  constructor(town: Town) {
    this.#town = town;
    const { prng, requesters, honestWorkers, liars, chain } = town.market;
    this.#program = prng.pick(town.programs);
    this.#poster = prng.pick(requesters.slice(0, -1));
    this.#watched = town.drawWatched();
    this.#company = prng.pick(["honest", "mixed", "mixed", "colluders", "colluders", "native"] as const);
    this.#lie = lyingWorker(prng, this.#program, chain.parameters.arityBits);
    const few = prng.below(2) === 0 ? [...liars.slice(0, 2), ...honestWorkers] : [...honestWorkers, ...liars];
    this.#free = {
      honest: () => town.shuffled(honestWorkers),
      mixed: () => town.shuffled(town.workers),
      colluders: () => town.shuffled(few),
      native: () => town.shuffled(liars),
    }[this.#company]();
  }

  /** @param done Called when the panel is resolved. */
  begin(time: number, done: () => void): void {
    this.#done = done;
    this.#town.plan(time, () => this.#post());
  }

  get #panelId(): Hex {
    const { chainId, market } = this.#town.market.chain;
    return jobIdOf(this.#seats[0]!.job, chainId, market);
  }

  async #post(): Promise<void> {
    const { market, panels } = this.#town;
    const { chain, prng, totals } = market;
    const seats = 1 + prng.below(MAX_SEATS);
    const deadline = chain.now + CLAIM_SECONDS + 3_000;
    const auditUntil = deadline + CLAIM_SECONDS + 2_000;
    this.#audit = prng.below(2) === 0 ? auditUntil : 0;
    const openFrom = auditUntil + 1 + prng.below(1_000);
    const { collateral } = chain.parameters;
    this.#request = requestOf(market, this.#program, {
      fee: 1n + (BigInt(prng.below(100)) * ETHER) / 100n,
      window: chain.parameters.baseWindow + 1 + prng.below(3_600),
      maxOutputBytes: 0,
      claimSeconds: CLAIM_SECONDS,
      deadline: BigInt(deadline),
      terms: [completeTerms({ collateral: collateral + BigInt(prng.below(1_000)), openFrom })],
    });
    const call = panels.call("post", [this.#request, seats, this.#audit]);
    const sent = await market.must("poster", this.#poster, call);
    if (sent === undefined) return;
    totals.count(totals.panels, `${this.#company}: posted`);
    const jobs = sent.events.flatMap((e) => (e.eventName === "JobPosted" ? [e.args.job] : []));
    this.#terms = { ...this.#request.terms[0]!, group: jobs[0]!.salt };
    for (const job of jobs) this.#seat(job);
    if (this.#audit !== 0 && prng.below(2) === 0)
      this.#town.plan(deadline + 5 + prng.below(500), () => this.#addSeat());
    this.#town.plan(openFrom + 1_100, async () => {
      await this.#agree();
      await this.#resolve();
    });
  }

  async #addSeat(): Promise<void> {
    const { market, panels } = this.#town;
    const call = panels.call("addSeat", [this.#seats[0]!.job, this.#request]);
    const stranger = market.parasites[0]!;
    const refusal = await market.chain.refusal(stranger, call);
    if (refusal === undefined || errorName(refusal) !== "NotPoster") market.fault(`a stranger adds a seat: ${refusal}`);
    const sent = await market.must("poster", this.#poster, call);
    const posted = sent?.events.find((e) => e.eventName === "JobPosted");
    if (posted?.eventName === "JobPosted") this.#seat(posted.args.job);
  }

  /** Somebody takes a seat, or nobody. */
  #seat(job: Job): void {
    const { market } = this.#town;
    const { prng, chain } = market;
    market.totals.jobs++;
    const address = this.#free.shift();
    const isHonest = address !== undefined && market.honestWorkers.includes(address);
    const alike = !isHonest && (this.#company === "colluders" || this.#company === "native");
    const worker = alike ? this.#lie : this.#town.workerAt(address ?? market.liars[0]!, this.#program);
    const unreliable: Conduct = prng.pick(["opens", "opens", "opens", "late", "shut"] as const);
    const conduct = address === undefined || prng.below(12) === 0 ? "absent" : isHonest ? "opens" : unreliable;
    const salt = toHex(prng.bits(256), { size: 32 });
    const seat: Seat = { job, conduct, address: address ?? this.#poster, worker, salt, isOver: false };
    this.#seats.push(seat);
    if (conduct === "absent") seat.isOver = true;
    else this.#town.plan(chain.now + 1 + prng.below(1_000), () => this.#take(seat));
  }

  async #take(seat: Seat): Promise<void> {
    const { market } = this.#town;
    const { chain, prng, parasites, totals } = market;
    const { job, address, worker, salt, conduct } = seat;
    const must = (who: string, from: Address, name: string, args: readonly unknown[]) =>
      market.must(who, from, chain.onMarket(name, [job, this.#terms, ...args]));
    await must("worker", address, "claimOnTerms", []);
    // Nobody has two seats.
    const other = this.#seats.find((one) => one !== seat && one.conduct === "absent");
    if (other !== undefined) {
      const refusal = await chain.refusal(address, chain.onMarket("claimOnTerms", [other.job, this.#terms]));
      if (refusal === undefined) market.fault("a worker takes two seats");
      else totals.count(totals.refusals, `second seat: ${errorName(refusal)}`);
    }
    if (conduct === "late") {
      return this.#town.plan(chain.now + CLAIM_SECONDS + 10, async () => {
        await must("stranger", prng.pick(parasites), "expireOnTerms", []);
        seat.isOver = true;
        await this.#resolve();
      });
    }
    const jobId = jobIdOf(job, chain.chainId, chain.market);
    const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "bytes32" }] as const;
    const seal = keccak256(encodeAbiParameters(types, [jobId, address, worker.root, salt]));
    await must("worker", address, "seal", [seal]);
    const open = chain.onMarket("openSeal", [job, this.#terms, address, salt, worker.nodes]);
    this.#town.plan(this.#terms.openFrom + 1 + prng.below(1_000), async () => {
      const refusal = worker.kind === "honest" ? undefined : await chain.refusal(address, open);
      if (conduct === "opens" && refusal === undefined) return this.#opened(seat, open);
      totals.count(totals.panels, "seal left shut");
      this.#town.plan(this.#terms.openFrom + chain.parameters.baseClock + 2, async () => {
        await must("stranger", prng.pick(parasites), "breakSeal", [address, seal]);
        seat.isOver = true;
        await this.#resolve();
      });
    });
  }

  async #opened(seat: Seat, open: Parameters<Town["market"]["send"]>[1]): Promise<void> {
    const { market } = this.#town;
    const { address, worker, job } = seat;
    const sent = await market.must("worker", address, open);
    const submitted = sent?.events.find((e) => e.eventName === "ClaimSubmitted");
    if (submitted?.eventName !== "ClaimSubmitted") return;
    const claim: Claim = { job, worker: address, root: worker.root, collateral: this.#terms.collateral };
    seat.claim = claim;
    const { claimId } = submitted.args;
    const watched = this.#watched;
    const subject = { program: this.#program, worker, claim, claimId, venue: market.chain, watched };
    const disputes = new Disputes(market, subject, async (ending) => {
      [seat.ending, seat.isOver] = [ending, true];
      if (ending === "finalised" && worker.kind === "honest") this.#town.owe(address, job.fee);
      await this.#resolve();
    });
    disputes.begin(drawChallengers(market, this.#program, worker, watched));
  }

  /** Each seat's claim in the form for calls; a zero claim for a seat without a claim. */
  get #keys(): ClaimKey[] {
    const { chainId, market } = this.#town.market.chain;
    return this.#seats.map(({ claim, job, address }) => {
      const named = claim ?? { worker: address, root: zeroHash, collateral: 0n };
      return claimKeyOf(jobIdOf(job, chainId, market), named);
    });
  }

  /** All seats opened alike and not refuted yet are an agreement at once, and nothing else is. */
  async #agree(): Promise<void> {
    const { market, panels } = this.#town;
    const { chain, totals } = market;
    const roots = this.#seats.map(({ claim, job }) => {
      const record = chain.history.jobs.get(jobIdOf(job, chain.chainId, chain.market))!.claims.at(-1);
      return claim === undefined || record?.refuted !== false ? undefined : claim.root;
    });
    const alike = roots.every((root) => root !== undefined && root === roots[0]);
    const call = panels.call("agree", [this.#seats[0]!.job, this.#keys]);
    const refusal = await chain.refusal(this.#poster, call);
    if ((refusal === undefined) !== alike) market.fault(`agreement of ${roots.join()}: ${refusal ?? "taken"}`);
    if (refusal !== undefined) return totals.count(totals.refusals, `agree: ${errorName(refusal)}`);
    await market.must("anyone", market.parasites[0]!, call);
    this.#agreed = true;
    const isRight = roots[0] === this.#program.right.root;
    totals.count(totals.panels, `agreed at once: ${isRight ? "right" : "wrong, to be refuted"}`);
  }

  /** Once all seats are over. */
  async #resolve(): Promise<void> {
    const { market, panels } = this.#town;
    const { chain, totals } = market;
    const asks = ++this.#asks;
    if (chain.now + 1 < this.#terms.openFrom + 1_200)
      return this.#town.plan(this.#terms.openFrom + 1_200, () => (asks === this.#asks ? this.#resolve() : nothing()));
    if (this.#seats.some(({ isOver }) => !isOver)) return;
    const finals = this.#seats.filter(({ ending }) => ending === "finalised");
    const roots = new Set(finals.map(({ claim }) => claim!.root));
    const expected: Outcome = roots.size === 0 ? "Failed" : roots.size === 1 ? "Survived" : "Split";
    const fee = BigInt(this.#request.fee);
    const added = this.#seats.length > 0 && this.#seats.some(({ job }) => Number(job.deadline) === this.#audit);
    const kept = this.#audit !== 0 && !added ? fee : 0n;
    const refund = fee * BigInt(this.#seats.length - finals.length) + kept;
    const sent = await market.must("anyone", this.#poster, panels.call("resolve", [this.#seats[0]!.job, this.#keys]));
    if (sent === undefined) return;
    const [event] = parseEventLogs({ abi: panels.abi, logs: sent.logs, eventName: "PanelResolved" });
    const { outcome, root, refund: given } = event!.args as unknown as { outcome: number; root: Hex; refund: bigint };
    const actual = OUTCOMES[outcome]!;
    if (actual !== expected) market.fault(`a panel ${actual}, not ${expected}`);
    if (given !== refund) market.fault(`a panel gives ${given} back, not ${refund}`);
    const isRight = root === this.#program.right.root;
    const kind = actual === "Survived" ? `${actual}, ${isRight ? "right" : "wrong where nobody looked"}` : actual;
    totals.count(totals.panels, `${this.#company}: ${kind}`);
    if (actual === "Survived" && !isRight && this.#watched) market.fault("a panel's wrong result survived");
    if (actual === "Survived" && isRight) await this.#read();
    this.#town.spend(this.#poster, fee * BigInt(finals.length));
    panels.owed.set(this.#poster, (panels.owed.get(this.#poster) ?? 0n) + refund);
    if (market.prng.below(3) === 0) await panels.withdraw(market, this.#poster);
    this.#done();
  }

  /** A dapp reads the result from the panel. */
  async #read(): Promise<void> {
    const { market, panels } = this.#town;
    const { right } = this.#program;
    const args = [this.#seats[0]!.job, this.#agreed, right.items - 1, deliveryOf(right, 0)];
    const refusal = await market.chain.refusal(this.#poster, panels.call("requireOutput", args));
    if (refusal !== undefined) market.fault(`a panel's result of ${this.#panelId}: ${refusal}`);
  }
}

const nothing = (): Promise<void> => Promise.resolve();
