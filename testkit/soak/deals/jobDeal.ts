import { encodeAbiParameters, keccak256, toHex, type Address, type Hex } from "viem";
import type { Claim, Delivery, Job, Terms } from "../../../src/chain/structs.ts";
import { claimIdOf, claimKeyOf } from "../../../src/chain/market/ids.ts";
import { deliveryOf, wantedOutputs } from "../../../src/parties/worker/settlement.ts";
import type { SoakCall } from "../chain.ts";
import { drawChallengers } from "../challengers.ts";
import { Disputes, type Ending } from "../disputes.ts";
import { errorName } from "../market.ts";
import type { SoakProgram } from "../programs.ts";
import { requestOf } from "../request.ts";
import type { SoakWorker } from "../workers.ts";
import { drawTerms, takenKey, unfitness } from "./terms.ts";
import type { Town } from "./town.ts";
import { ETHER } from "../../protocol/deployWorld.ts";

/** Maximum number of successive workers per job. */
const ATTEMPTS = 3;
const CLAIM_SECONDS = 600;

/** How long after its claim became final the requester can have a fee back. */
const DELIVERY_SECONDS = 7 * 86_400;

/** A job's current holder, and the holder's execution. */
type Holder = { address: Address; worker: SoakWorker };

/** A job, with or without terms, from the post until the fee is paid or returned. */
export class JobDeal {
  readonly #town: Town;
  readonly #program: SoakProgram;
  readonly #requester: Address;
  readonly #watched: boolean;
  #terms: Terms | undefined;
  #job!: Job;
  #jobId!: Hex;
  #attempts = 0;
  #done: () => void = () => undefined;

  constructor(town: Town) {
    this.#town = town;
    const { prng, requesters } = town.market;
    this.#program = prng.pick(town.programs);
    this.#requester = prng.below(40) === 0 ? town.pauper : prng.pick(requesters);
    this.#watched = town.drawWatched();
  }

  /** @param done Called when nothing is left to do but to wait for a fee. */
  begin(time: number, done: () => void): void {
    this.#done = done;
    this.#town.plan(time, () => this.#post());
  }

  /** Whether the requester never acts again. */
  get #isGone(): boolean {
    return this.#requester === this.#town.market.requesters.at(-1);
  }

  get #terms_(): readonly Terms[] {
    return this.#terms === undefined ? [] : [this.#terms];
  }

  #must(who: string, from: Address, functionName: string, args: readonly unknown[]) {
    const { market } = this.#town;
    return market.must(who, from, market.chain.onMarket(functionName, args));
  }

  #after(seconds: number, run: () => Promise<void>): void {
    this.#town.plan(this.#town.market.chain.now + seconds, run);
  }

  async #post(): Promise<void> {
    const { market } = this.#town;
    const { chain, prng, totals } = market;
    const isSealed = prng.below(6) === 0;
    const deadline = chain.now + (isSealed ? CLAIM_SECONDS + 4_000 : 400_000);
    const openFrom = isSealed ? deadline + 1 + prng.below(3_000) : 0;
    if (isSealed || prng.below(3) === 0) this.#terms = drawTerms(this.#town, openFrom);
    const request = requestOf(market, this.#program, {
      fee: 1n + (BigInt(prng.below(100)) * ETHER) / 100n,
      window: chain.parameters.baseWindow + 1 + prng.below(3_600),
      maxOutputBytes: prng.pick([0, 4_096]),
      claimSeconds: CLAIM_SECONDS,
      deadline: BigInt(deadline),
      terms: [...this.#terms_],
    });
    if (this.#requester === this.#town.pauper) {
      const refusal = await chain.refusal(this.#requester, chain.onMarket("post", [request]));
      if (refusal === undefined || errorName(refusal) !== "InsufficientCredit")
        market.fault(`a post without funds: ${refusal}`);
      totals.count(totals.refusals, "post: InsufficientCredit");
      return this.#done();
    }
    const sent = await this.#must("requester", this.#requester, "post", [request]);
    const posted = sent?.events.find((e) => e.eventName === "JobPosted");
    if (posted?.eventName !== "JobPosted") return;
    totals.jobs++;
    [this.#job, this.#jobId] = [posted.args.job, posted.args.jobId];
    this.#after(1 + prng.below(300), () => this.#offer());
  }

  /** Offers the job to workers in random order, until a worker can take the job. */
  async #offer(): Promise<void> {
    const { market, workers } = this.#town;
    const { chain, prng } = market;
    if (this.#attempts++ < ATTEMPTS) {
      if (this.#terms !== undefined && this.#terms.spread > 0 && prng.below(2) === 0)
        await chain.mine(this.#terms.spread + 1);
      for (const address of this.#town.shuffled(workers)) {
        if (!(await this.#mayTake(address))) continue;
        return this.#take({ address, worker: this.#town.workerAt(address, this.#program) });
      }
    }
    await this.#close();
  }

  /** Whether the contract lets a worker take the job, which must be what the rules say. */
  async #mayTake(address: Address): Promise<boolean> {
    const { market } = this.#town;
    const { chain, totals } = market;
    if (this.#terms === undefined) return BigInt(chain.now + 1 + CLAIM_SECONDS) <= this.#job.deadline;
    const call = chain.onMarket("claimOnTerms", [this.#job, this.#terms]);
    const refusal = await chain.refusal(address, call);
    const actual = refusal && errorName(refusal);
    if (actual === "NotItsTurn" && this.#terms.spread > 0) {
      totals.count(totals.refusals, "claimOnTerms: NotItsTurn");
      return false;
    }
    const expected = await unfitness(this.#town, this.#job, this.#terms, address);
    if (actual !== expected) market.fault(`a claim on terms: ${actual ?? "taken"}, not ${expected ?? "taken"}`);
    if (actual !== undefined) totals.count(totals.refusals, `claimOnTerms: ${actual}`);
    return actual === undefined;
  }

  async #take(holder: Holder): Promise<void> {
    const { market, taken } = this.#town;
    const { prng, totals } = market;
    const { address, worker } = holder;
    if (this.#terms !== undefined) taken.add(takenKey(this.#job, this.#terms, address));
    if (this.#terms?.reservedFor === address && this.#terms.openFrom === 0 && prng.below(2) === 0) {
      const call = market.chain.onMarket("claimAndSubmit", [this.#job, this.#terms, worker.nodes]);
      const refusal = await market.chain.refusal(address, call);
      if (refusal === undefined) return this.#submitted(holder, call);
      if (worker.kind === "honest") market.fault(`claimAndSubmit: ${refusal}`);
    }
    const claims = this.#terms === undefined ? "claim" : "claimOnTerms";
    await this.#must("worker", address, claims, [this.#job, ...this.#terms_]);
    if (worker.kind !== "honest" && prng.below(6) === 0) {
      totals.count(totals.verdicts, "vanished: late");
      return this.#after(CLAIM_SECONDS + 10, () => this.#expire());
    }
    const isSealed = this.#terms !== undefined && this.#terms.openFrom !== 0;
    this.#after(1 + prng.below(500), () => (isSealed ? this.#seal(holder, this.#terms!) : this.#submit(holder)));
  }

  /** A stranger frees a job from a late worker. */
  async #expire(): Promise<void> {
    const { market } = this.#town;
    const name = this.#terms === undefined ? "expire" : "expireOnTerms";
    await this.#must("stranger", market.prng.pick(market.parasites), name, [this.#job, ...this.#terms_]);
    if (market.chain.history.jobs.get(this.#jobId)!.closed) return this.#done();
    this.#after(1, () => this.#offer());
  }

  async #submit(holder: Holder): Promise<void> {
    const { chain, totals } = this.#town.market;
    const { address, worker } = holder;
    const name = this.#terms === undefined ? "submit" : "submitOnTerms";
    const call = chain.onMarket(name, [this.#job, ...this.#terms_, worker.nodes]);
    const refusal = worker.kind === "honest" ? undefined : await chain.refusal(address, call);
    if (refusal === undefined) return this.#submitted(holder, call);
    totals.count(totals.refusals, `submit: ${errorName(refusal)}`);
    this.#after(CLAIM_SECONDS + 10, () => this.#expire());
  }

  async #seal(holder: Holder, terms: Terms): Promise<void> {
    const { market } = this.#town;
    const { chain, prng, totals } = market;
    const { address, worker } = holder;
    const salt = toHex(prng.bits(256), { size: 32 });
    const types = [{ type: "bytes32" }, { type: "address" }, { type: "bytes32" }, { type: "bytes32" }] as const;
    const seal = keccak256(encodeAbiParameters(types, [this.#jobId, address, worker.root, salt]));
    await this.#must("worker", address, "seal", [this.#job, terms, seal]);
    const open = chain.onMarket("openSeal", [this.#job, terms, address, salt, worker.nodes]);
    const early = await chain.refusal(address, open);
    if (worker.kind === "honest" && early?.includes("TimeNotUp") !== true)
      market.fault(`a seal opened early: ${early}`);
    const leaves = worker.kind !== "honest" && prng.below(3) === 0;
    const end = terms.openFrom + chain.parameters.baseClock;
    this.#town.plan(terms.openFrom + 1 + prng.below(1_000), async () => {
      const refusal = worker.kind === "honest" ? undefined : await chain.refusal(address, open);
      if (!leaves && refusal === undefined) return this.#submitted(holder, open);
      totals.count(totals.verdicts, `${worker.kind}: seal left shut`);
      this.#town.plan(end + 2, async () => {
        const stranger = prng.pick(market.parasites);
        await this.#must("stranger", stranger, "breakSeal", [this.#job, terms, address, seal]);
        this.#done();
      });
    });
  }

  /** Puts a claim on chain and has it disputed. */
  async #submitted({ address, worker }: Holder, call: SoakCall): Promise<void> {
    const { market } = this.#town;
    const { chain, prng } = market;
    const sent = await market.must("worker", address, call);
    const submitted = sent?.events.find((e) => e.eventName === "ClaimSubmitted");
    if (submitted?.eventName !== "ClaimSubmitted") return;
    const collateral = this.#terms?.collateral ?? chain.parameters.collateral;
    const claim: Claim = { job: this.#job, worker: address, root: worker.root, collateral };
    const { claimId } = submitted.args;
    if (claimIdOf(claimKeyOf(this.#jobId, claim)) !== claimId) market.fault("another id");
    const watched = this.#watched;
    const subject = { program: this.#program, worker, claim, claimId, venue: chain, watched };
    const disputes = new Disputes(market, subject, (ending) => this.#over(ending, claim, claimId, worker));
    disputes.begin(drawChallengers(market, this.#program, worker, watched));
    // An honest requester accepts early only a result that the requester has also computed.
    if (this.#terms?.earlyAccept === true && prng.below(2) === 0 && (worker.right || this.#isGone)) {
      const accept = chain.onMarket("acceptEarly", [claim, this.#terms]);
      this.#after(1 + prng.below(this.#job.window), () => disputes.acceptEarly(this.#requester, accept));
    }
  }

  async #over(ending: Ending, claim: Claim, claimId: Hex, worker: SoakWorker): Promise<void> {
    if (ending === "refuted") return this.#offer();
    if (ending === "finalised") {
      await this.#check(claim, worker);
      if (!this.#town.market.chain.history.claims.get(claimId)!.paid) await this.#askForFee(claim, worker);
    }
    if (this.#town.market.chain.history.claims.get(claimId)!.paid) this.#paid(claim, worker);
    this.#done();
  }

  /** A dapp reads an item's output from a final claim. */
  async #check(claim: Claim, worker: SoakWorker): Promise<void> {
    const { market } = this.#town;
    const { chain } = market;
    const { right } = this.#program;
    const item = right.items - 1;
    const given = deliveryOf(right, 0);
    const read = (delivery: Delivery) =>
      chain.refusal(this.#requester, chain.onMarket("requireOutput", [claim, item, delivery]));
    const refusal = await read(given);
    if (worker.right && refusal !== undefined) market.fault(`an output of a final claim: ${refusal}`);
    const flipped = given.data.endsWith("0") ? "1" : "0";
    const other: Delivery = { ...given, data: `${given.data.slice(0, -1)}${flipped}` as Hex };
    if ((await read(other)) === undefined) market.fault("another output passes for that of a final claim");
  }

  /** Pays a final claim's fee. The requester releases the fee; if the requester has gone, the worker delivers. */
  async #askForFee(claim: Claim, worker: SoakWorker): Promise<void> {
    const { market } = this.#town;
    if (!this.#isGone) {
      await this.#must("requester", this.#requester, "accept", [claim]);
      return;
    }
    if (worker.kind === "honest") {
      for (const output of wantedOutputs(this.#job))
        await this.#must("worker", claim.worker, "deliver", [claim, deliveryOf(this.#program.right, output)]);
      return;
    }
    this.#after(DELIVERY_SECONDS + 60, async () => {
      await this.#must("stranger", market.prng.pick(market.parasites), "reclaim", [claim]);
    });
  }

  #paid({ worker: address, job }: Claim, worker: SoakWorker): void {
    this.#town.owe(this.#requester, -job.fee);
    if (worker.kind === "honest") this.#town.owe(address, job.fee);
  }

  /**
   * Closes the job. The requester takes the job back; if the requester has gone, a stranger closes the job after its
   * deadline, for a reward.
   */
  async #close(): Promise<void> {
    const { market } = this.#town;
    if (!this.#isGone) await this.#must("requester", this.#requester, "cancel", [this.#job]);
    else {
      this.#town.plan(Number(this.#job.deadline) + 10, async () => {
        const sent = await this.#must("stranger", market.prng.pick(market.parasites), "expire", [this.#job]);
        const closed = sent?.events.find((e) => e.eventName === "JobClosed");
        if (closed?.eventName === "JobClosed") this.#town.owe(this.#requester, closed.args.refund - this.#job.fee);
      });
    }
    this.#done();
  }
}
