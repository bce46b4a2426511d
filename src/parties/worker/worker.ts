import { isAddressEqual, type Hex } from "viem";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { Forget } from "../../chain/market/forget.ts";
import type { Snapshot } from "../../chain/market/session.ts";
import { submissionOf } from "../../dispute/workerMove.ts";
import type { Executions } from "../../runs/executions.ts";
import type { RunExecution } from "../../dispute/run/runExecution.ts";
import { isOpen, type JobRecord } from "../../chain/market/history.ts";
import { isBacked, type OwnExamClaims } from "../../attestation/exams/openExamClaims.ts";
import type { Problem } from "../../base/health.ts";
import type { Logger } from "../../base/log.ts";
import { requirePlainAccountAtStart } from "../role/plainAccount.ts";
import { Races } from "../role/races.ts";
import { Role, type Duty, type Followed, type Funds, type RoundSnapshot, type Start } from "../role/role.ts";
import { workerLine } from "./workerLine.ts";
import { shortOfGas } from "../role/shortFunds.ts";
import { Attestation } from "./attestation.ts";
import { OwnClaims } from "./ownClaims.ts";
import { Examinations } from "./examinations.ts";
import { UNKNOWN } from "./errors.ts";
import { FailedAudits } from "./failedAudits.ts";
import { submitProven } from "./prover.ts";
import type { WorkerEvent } from "./events.ts";
import { OtherSeats } from "./otherSeats.ts";
import { JobChoice } from "./jobChoice.ts";
import { claimProblem, hasRoom, isSealed } from "./jobPolicy.ts";
import { NativeClaims } from "./nativeClaims.ts";
import { Seals } from "./seals.ts";
import { drawSamples, selfAudit, SelfAuditError } from "./selfAudit.ts";
import { expire } from "./settlement.ts";
import { bestUnknown } from "./wantedPrograms.ts";
import type { WorkerOptions } from "./options.ts";

/** Logs a warning if no pledge backs the exam results. */
async function warnWithoutPledge(own: OwnExamClaims, log: Logger): Promise<void> {
  if (await isBacked(own)) return;
  const { market } = own.session.deployment;
  const examClaims = own.claimContracts.examClaims.address;
  log.warn({ market, examClaims }, "no pledge backs its exam results: refute tickets pledge --exam-claims");
}

/**
 * Runs a worker until the signal: it claims suitable jobs, executes, submits, answers disputes, finalises, delivers and
 * collects.
 * @throws NotPlainAccountError
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  await requirePlainAccountAtStart(options.session);
  await new Worker(options).run();
}

class Worker {
  readonly #options: WorkerOptions;
  readonly #role: Role<WorkerEvent>;
  readonly #executions: Executions;
  readonly #races: Races;
  readonly #failedAudits = new FailedAudits();
  readonly #claims: OwnClaims;
  /** The worker's exam results that became claims, in the market of pledged claims. */
  readonly #examResults: OwnClaims | undefined;
  readonly #seals: Seals;
  readonly #choice: JobChoice;
  readonly #native: NativeClaims | undefined;
  readonly #attestation: Attestation;
  readonly #examinations: Examinations | undefined;
  readonly #others: OtherSeats | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#races = new Races(options.log);
    const references = options.references && { ...options.references, mustLast: true };
    this.#role = new Role("worker", { ...options, references }, workerLine);
    this.#executions = this.#role.executions;
    const { session, native, log, device, exams, examClaims, seals } = options;
    const policy = { ...options.policy, ...(seals === undefined && { maxSealSeconds: 0 }) };
    this.#choice = new JobChoice({ ...options, policy }, this.#role);
    this.#attestation = new Attestation(options, this.#role);
    if (device !== undefined && exams !== undefined)
      this.#examinations = new Examinations({ ...options, device }, exams, this.#role);
    const { parameters } = session.deployment;
    this.#native = native && new NativeClaims(native, this.#role, log, parameters);
    this.#claims = new OwnClaims(options, this.#role, this.#native);
    if (examClaims !== undefined)
      this.#examResults = new OwnClaims({ ...options, session: examClaims.session }, this.#role);
    this.#seals = new Seals(session, this.#role, log, seals);
    const { seatMode = "defend" } = options;
    if (seatMode !== "off") this.#others = new OtherSeats(options, seatMode, this.#role);
  }

  async run(): Promise<void> {
    const { session, examClaims } = this.#options;
    if (examClaims !== undefined)
      await this.#role.attempt("reading the pledge", "", () => warnWithoutPledge(examClaims, this.#options.log));
    // Attestation and claiming come last: clocks of games run.
    const duties = [this.#claims, ...(this.#others === undefined ? [] : [this.#others]), this.#jobs];
    await this.#role.run({
      facts: {},
      needsPlainAccountTo: "claim jobs",
      checkFunds: (funds, snapshot) => this.#checkFunds(funds, snapshot),
      markets: [{ session, duties }, ...this.#examMarket()],
    });
    this.#seals.logWaiting();
  }

  /** The market for claims about the worker's exam results, if any. */
  #examMarket(): Followed[] {
    const { examClaims } = this.#options;
    if (examClaims === undefined || this.#examResults === undefined) return [];
    const problem = (): Problem | undefined => {
      const pays = this.#role.health.problem("pays");
      return pays && { ...pays, reason: `pays: ${pays.reason}` };
    };
    const condition = { name: "examGames", problem } as const;
    return [{ session: examClaims.session, duties: [this.#examResults], condition }];
  }

  /** Keeps a job whose claim or seal is the worker's. */
  readonly #forget: Forget = (job) =>
    this.#seals.keeps(job) || (job.holder !== undefined && this.#isMe(job.holder.worker)) ? "nothing" : "all";

  /** Reports whether the worker may claim, and can pay for all claims plus one more job. */
  async #checkFunds(funds: Funds, { now }: Snapshot): Promise<void> {
    const { session } = this.#options;
    const { health } = this.#role;
    health.set("pays", this.#payProblem(funds));
    await this.#attestation.measure(now);
    health.set("mayClaim", await claimProblem(session, session.deployment.parameters.collateral));
  }

  /**
   * Returns the reason why the account cannot pay for all claims plus one more job. @returns undefined if the account
   * can pay.
   */
  #payProblem({ balance, gasPrice }: Pick<Funds, "balance" | "gasPrice">): Problem | undefined {
    const owner = this.#options.session.sender.address;
    // All of it may be disputed at once.
    const gas = this.#claims.gasNeeded + (this.#examResults?.gasNeeded ?? 0);
    return shortOfGas({ balance, gasPrice, owner }, gas, "a job, and the answers for all claims,");
  }

  readonly #round = (snapshot: RoundSnapshot, start: Start): void => {
    const { history, now, isPlain, blockNumber } = snapshot;
    this.#failedAudits.forget(history.jobs);
    this.#native?.forget(history);
    const attempt = (doing: string, id: string, action: () => Promise<void>) =>
      start(`${doing} ${id}`, () =>
        this.#role.attempt(doing, id, () => this.#races.run(doing, id, blockNumber, action)),
      );
    // One after the other: both send, and an exam has less time.
    attempt("reporting with the dongle", "", async () => {
      await this.#examinations?.tend(blockNumber, now);
      await this.#attestation.tend(now);
    });
    const own = this.#claims.claims;
    const published = new Map(own.map(({ id, jobId }) => [id, history.jobs.get(jobId)!]));
    this.#options.publisher?.publish(published, this.#executions);
    const jobs = [...history.jobs.values()];
    const claimed = jobs.flatMap((job) =>
      job.holder !== undefined && this.#isMe(job.holder.worker) ? [{ job, until: job.holder.until }] : [],
    );
    const sealed = this.#seals.sealed(history);
    for (const job of sealed) attempt("seal", job.id, () => this.#seals.open(job, now));
    this.#seals.tidy(history, blockNumber);
    const disputable = own.filter(isOpen);
    // A sealed submission will become a claim.
    const undecided = [...sealed, ...disputable.map(({ jobId }) => history.jobs.get(jobId)!)];
    for (const { job, until } of claimed) attempt("job", job.id, () => this.#work(job, until, now, undecided));
    const atStake = jobs.filter(
      ({ holder, sealed, claims }) =>
        [holder, sealed].some((one) => one !== undefined && this.#isMe(one.worker)) ||
        claims.some(({ claim, refuted, paid }) => this.#isMe(claim.worker) && !refuted && !paid),
    );
    this.#options.programs.want(atStake.map(({ job }) => job.programRoot));
    const { stored } = this.#executions;
    stored.reserve([...atStake, ...(this.#examResults?.openJobs ?? [])]);
    if (stored.problem !== undefined) this.#role.health.set("runsOnDisk", stored.problem);
    const { atOnce = 1 } = this.#options;
    if (claimed.length >= atOnce || !isPlain || this.#role.isAtFault) return;
    // A claimed job will be open too.
    const open = undecided.length + claimed.length;
    attempt("claiming", "", () => this.#claim(snapshot, open));
    const awaited = jobs.filter((job) => job.open && this.#executions.awaits(job) && !this.#hasLost(job));
    if (awaited.length > 0 && hasRoom(this.#options.policy, open))
      attempt("looking for models", "", () => this.#want(awaited, now));
  };

  /** Claiming, sealing and submitting jobs, attestation and exams. */
  readonly #jobs: Duty = {
    conditions: ["selfAudit", "runsOnDisk", "seals"],
    forget: this.#forget,
    round: this.#round,
  };

  /**
   * Executes and submits a job claimed by the worker.
   * @param open Jobs of the worker's disputable claims.
   */
  async #work(job: JobRecord, until: bigint, now: bigint, open: readonly JobRecord[]): Promise<void> {
    const { session, selfAuditSamples, log, execute } = this.#options;
    const { deployment } = session;
    const device = execute.device?.();
    // Otherwise the rest of the collateral would stay locked, and this worker would claim nothing more.
    if (now > until) return this.#role.report(await expire(session, job));
    if (this.#failedAudits.isWithheld(job)) return;
    const start = performance.now();
    // A proof needs the exact execution.
    const isProvable = this.#options.prover?.knows(job) === true;
    const native = isProvable ? undefined : await this.#native?.answer(job, open);
    if (native !== undefined) {
      const milliseconds = Math.round(performance.now() - start);
      if (this.#role.isNew("answered", job.id, String(until)))
        this.#role.report({ kind: "answered", jobId: job.id, root: native.root, milliseconds });
      return this.#submit(job, native.root, submissionOf(native.list, deployment.parameters.arityBits, "answer"));
    }
    const execution = await this.#executions.of(job);
    if (execution === undefined) {
      if (this.#role.isNew("unknown", job.id))
        log.error({ job: job.id }, `a claimed job cannot be executed: ${UNKNOWN}`);
      return;
    }
    const { root, runRoot } = execution;
    const milliseconds = Math.round(performance.now() - start);
    if (this.#role.isNew("executed", job.id, String(until)))
      this.#role.report({ kind: "executed", jobId: job.id, root, milliseconds });
    const samples = [...this.#failedAudits.samplesOf(job), ...drawSamples(execution, selfAuditSamples)];
    try {
      const use = (action: (run: RunExecution) => Promise<true>) => this.#executions.use(job, action);
      await selfAudit(session.publicClient, deployment.verifier, runRoot, samples, use);
    } catch (error) {
      if (error instanceof SelfAuditError) return this.#withhold(job, runRoot, until, error);
      throw error;
    }
    // SAFETY: a wrong GPU's results are never submitted. The next round executes the job anew.
    if (execute.device?.() !== device) return;
    const nodes = submissionOf(execution.claimed, deployment.parameters.arityBits, execution.form);
    const proven = await submitProven(this.#options, job, execution, nodes);
    if (proven === undefined) return this.#submit(job, root, nodes);
    this.#role.report({ kind: "proven", jobId: job.id, root, receipt: proven });
  }

  async #submit(job: JobRecord, root: Hex, nodes: Hex): Promise<void> {
    if (isSealed(job)) return this.#seals.seal(job, root, nodes);
    const until = Number(job.holder?.until ?? Infinity);
    const receipt = await this.#options.session.market.submit(job.job, nodes, job.terms, until);
    this.#role.report({ kind: "submitted", jobId: job.id, root, receipt });
  }

  /** Has a job with a wrong execution executed again, or gives the job up. */
  #withhold(job: JobRecord, runRoot: Hex, submitBy: bigint, { code, message, sample }: SelfAuditError): void {
    const { session, log } = this.#options;
    const { parameters } = session.deployment;
    this.#executions.drop(job);
    this.#role.meter.auditFailed();
    if (!this.#failedAudits.add(job, runRoot, sample))
      return log.warn({ code, job: job.id, reason: message }, "self-audit failed, executing anew");
    const collateral = job.terms?.collateral ?? parameters.collateral;
    const penalty = (collateral * BigInt(parameters.penaltyBps)) / 10_000n;
    const by = new Date(Number(submitBy) * 1_000).toISOString();
    const reason =
      `${message}; this machine's executions of the job are wrong, and none is submitted: the penalty of ` +
      `${penalty} (of the stake asset's smallest unit) is lost unless a mended worker with this key ` +
      `submits by ${by}. ` +
      `No more jobs of this program are claimed until a restart`;
    this.#role.health.set("selfAudit", { code, reason: `job ${job.id} was given up: ${message}` });
    this.#role.report({ kind: "withheld", jobId: job.id, reason, submitBy, penalty });
  }

  /** Claims the best paid of the suitable jobs. @param open Own claims that can be disputed, or will be. */
  async #claim({ history, now, blockNumber }: RoundSnapshot, open: number): Promise<void> {
    const { session, policy, log } = this.#options;
    const known = [...history.jobs.values()].filter(
      (job) =>
        job.open &&
        !this.#hasLost(job) &&
        !this.#failedAudits.isDistrusted(job.job.programRoot) &&
        (!isSealed(job) || this.#seals.canKeep),
    );
    const best = await this.#choice.best(known, now);
    if (best === undefined) return;
    if (!hasRoom(policy, open)) {
      const message = "as many claims are open as the policy allows; no more jobs are claimed until one is final";
      if (this.#role.isNew("full", "")) log.warn({ open }, message);
      return;
    }
    const { health } = this.#role;
    // A claimed job that cannot be submitted, or a claim that cannot be defended, costs more than the job pays.
    const balance = await session.publicClient.getBalance({ address: session.sender.address });
    const short = this.#payProblem({ balance, gasPrice: best.gasPrice });
    health.set("pays", short);
    const problem = await claimProblem(
      session,
      best.record.terms?.collateral ?? session.deployment.parameters.collateral,
    );
    health.set("mayClaim", problem);
    if (short !== undefined || problem !== undefined || !(await this.#executions.prepare(best.record))) return;
    if (isSealed(best.record)) {
      const unkept = await this.#seals.problem();
      health.set("seals", unkept);
      if (unkept !== undefined) return;
    }
    const { job, id } = best.record;
    await this.#races.run("claiming", id, blockNumber, async () =>
      this.#role.report({ kind: "claimed", jobId: id, fee: job.fee, receipt: await this.#choice.claim(best) }),
    );
  }

  /** Requests the best-paid job's program, among the jobs that may become known soon. */
  async #want(awaited: readonly JobRecord[], now: bigint): Promise<void> {
    const { session, policy, programs } = this.#options;
    const { rate, arityBits } = session.deployment.parameters;
    const gasPrice = await gasPriceNow(session.publicClient);
    const best = bestUnknown(awaited, { policy, rate, arityBits, gasPrice, now });
    if (best !== undefined) programs.want([best.job.programRoot]);
  }

  /** Returns true if the worker was refuted on a job or missed its submission: the worker would lose again. */
  #hasLost({ claims, late }: JobRecord): boolean {
    const refuted = claims.some((record) => record.refuted && this.#isMe(record.claim.worker));
    return refuted || [...late].some((worker) => this.#isMe(worker));
  }

  #isMe(address: Hex): boolean {
    return isAddressEqual(address, this.#options.session.sender.address);
  }
}
