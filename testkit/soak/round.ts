import type { Address, Hex } from "viem";
import { claimIdOf, claimKeyOf } from "../../src/chain/market/ids.ts";
import type { Job } from "../../src/chain/structs.ts";
import type { Prng } from "../random/prng.ts";
import { drawChallengers } from "./challengers.ts";
import { Disputes, type Ending } from "./disputes.ts";
import { soakProgram, type SoakProgram } from "./programs.ts";
import { errorName, type SoakMarket } from "./market.ts";
import { requestOf } from "./request.ts";
import { honestWorker, lyingWorker, type SoakWorker } from "./workers.ts";
import { ETHER } from "../protocol/deployWorld.ts";

/** A job with one claim, and every game on the claim, until nothing remains to do. */
export class Round {
  readonly #market: SoakMarket;
  readonly #prng: Prng;
  readonly #program: SoakProgram;
  readonly #worker: SoakWorker;
  readonly #workerAddress: Address;
  #job!: Job;
  #done: () => void = () => undefined;

  constructor(market: SoakMarket) {
    this.#market = market;
    this.#prng = market.prng;
    this.#program = soakProgram(this.#prng);
    const { arityBits } = market.chain.parameters;
    const honest = this.#prng.below(3) === 0;
    this.#worker = honest ? honestWorker(this.#program, arityBits) : lyingWorker(this.#prng, this.#program, arityBits);
    this.#workerAddress = this.#prng.pick(honest ? market.honestWorkers : market.liars);
  }

  /** @param done Called when the job is closed or finalised and no game is open any more. */
  begin(time: number, done: () => void): void {
    this.#done = done;
    this.#plan(time, () => this.#post());
  }

  #plan(time: number, run: () => Promise<void>): void {
    this.#market.agenda.plan(time, run);
  }

  async #post(): Promise<void> {
    const { chain, requester } = this.#market;
    const { inputs } = this.#program;
    const request = requestOf(this.#market, this.#program, {
      fee: (BigInt(this.#prng.below(100)) * ETHER) / 100n,
      window: chain.parameters.baseWindow + 1 + this.#prng.below(3_600),
      maxOutputBytes: this.#prng.pick([0, 4_096]),
    });
    const sent = await this.#market.must("requester", requester, chain.onMarket("post", [request]));
    const posted = sent?.events.find((e) => e.eventName === "JobPosted");
    if (posted?.eventName !== "JobPosted") return;
    this.#job = posted.args.job;
    if (this.#job.inputsRoot !== inputs.list.root) this.#market.fault("another inputs root");
    this.#plan(chain.now + 1 + this.#prng.below(300), () => this.#take());
  }

  async #take(): Promise<void> {
    const { chain } = this.#market;
    await this.#market.must("worker", this.#workerAddress, chain.onMarket("claim", [this.#job]));
    this.#plan(chain.now + 1 + this.#prng.below(500), () => this.#submit());
  }

  async #submit(): Promise<void> {
    const { chain } = this.#market;
    const { root, nodes, kind } = this.#worker;
    const call = chain.onMarket("submit", [this.#job, nodes]);
    const refusal = kind === "honest" ? undefined : await chain.refusal(this.#workerAddress, call);
    if (refusal !== undefined) return this.#abandoned(refusal);
    const sent = await this.#market.must("worker", this.#workerAddress, call);
    const submitted = sent?.events.find((e) => e.eventName === "ClaimSubmitted");
    if (submitted?.eventName !== "ClaimSubmitted") return;
    const { collateral } = chain.parameters;
    const claim = { job: this.#job, worker: this.#workerAddress, root, collateral };
    const { claimId, jobId } = submitted.args;
    if (claimIdOf(claimKeyOf(jobId, claim)) !== claimId) this.#market.fault("another id");
    const subject = { program: this.#program, worker: this.#worker, claim, claimId, venue: chain, watched: true };
    const disputes = new Disputes(this.#market, subject, async (ending) => {
      await this.#freeTheJob(subject, ending);
      this.#done();
    });
    disputes.begin(drawChallengers(this.#market, this.#program, this.#worker));
  }

  /** A submission that is refused: the job is freed when the claim's time is over, and costs the worker the penalty. */
  #abandoned(refusal: string): void {
    const { chain, totals, requester } = this.#market;
    totals.count(totals.refusals, `submit: ${errorName(refusal)}`);
    totals.count(totals.verdicts, `${this.#worker.kind}: refused at submission`);
    this.#plan(chain.now + 1_000, async () => {
      await this.#market.must("expire", requester, chain.onMarket("expire", [this.#job]));
      await this.#market.must("cancel", requester, chain.onMarket("cancel", [this.#job]));
      this.#done();
    });
  }

  async #freeTheJob({ claim, claimId }: { claim: object; claimId: Hex }, ending: Ending): Promise<void> {
    const { chain, requester } = this.#market;
    const { paid } = chain.history.claims.get(claimId)!;
    if (ending === "refuted") await this.#market.must("cancel", requester, chain.onMarket("cancel", [this.#job]));
    else if (!paid) await this.#market.must("accept", requester, chain.onMarket("accept", [claim]));
  }
}
