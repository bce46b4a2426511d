import { isAddressEqual } from "viem";
import type { Logger } from "../../base/log.ts";
import { isOver, type Forget } from "../../chain/market/forget.ts";
import {
  emptyHistory,
  isOpen,
  stateOf,
  type ClaimRecord,
  type GameRecord,
  type JobRecord,
} from "../../chain/market/history.ts";
import type { Session } from "../../chain/market/session.ts";
import type { RunExecution } from "../../dispute/run/runExecution.ts";
import { idleWorkerMove, workerMove } from "../../dispute/workerMove.ts";
import type { ProgramLibrary } from "../../runs/programLibrary.ts";
import { Races } from "../role/races.ts";
import type { Duty, Role, RoundSnapshot, Start } from "../role/role.ts";
import { ClaimEnds } from "./claimEnds.ts";
import { UndefendedClaimError, UNKNOWN, WrongClaimError } from "./errors.ts";
import type { WorkerEvent } from "./events.ts";
import { WorkerGas } from "./gasNeeded.ts";
import type { NativeClaims } from "./nativeClaims.ts";
import { sendMove } from "./sendMove.ts";
import { missingOutputs } from "./settlement.ts";

/** A worker's duty towards its own claims in a market: it answers disputes, finalises, delivers and collects. */
export class OwnClaims implements Duty {
  readonly #options: { session: Session; programs: ProgramLibrary };
  readonly #role: Role<WorkerEvent>;
  readonly #native: NativeClaims | undefined;
  readonly #races: Races;
  readonly #ends: ClaimEnds;
  readonly #gas: WorkerGas;
  #history = emptyHistory();

  /** @param native Answers without exact execution: absent where none are given. */
  constructor(
    options: { session: Session; programs: ProgramLibrary; log: Logger },
    role: Role<WorkerEvent>,
    native?: NativeClaims,
  ) {
    [this.#options, this.#role, this.#native] = [options, role, native];
    this.#races = new Races(options.log);
    this.#ends = new ClaimEnds(options, role, native);
    this.#gas = new WorkerGas(options.session.deployment.parameters.arityBits);
  }

  /** The worker's claims, by the latest round. */
  get claims(): ClaimRecord[] {
    return [...this.#history.claims.values()].filter((record) => this.#isOwn(record));
  }

  /** The jobs of claims that can be disputed. */
  get openJobs(): JobRecord[] {
    return this.claims.filter(isOpen).map(({ jobId }) => this.#history.jobs.get(jobId)!);
  }

  /** Gas that the claims, disputes of all of them and one more job may take. */
  get gasNeeded(): number {
    const { session, programs } = this.#options;
    return this.#gas.needed(this.#history, session.sender.address, programs.shapes, this.#role.executions);
  }

  /** Forgets a finished job without debts to the worker, and only the input of a job that the worker does not serve. */
  readonly forget: Forget = (job, now) => {
    const { sender, deployment } = this.#options.session;
    const isOwed = job.claims.some((record) => {
      const isDelivered = missingOutputs(record).length === 0 || this.#ends.hasGivenUp(record);
      const isDone = !isOpen(record) && (!record.finalised || isDelivered);
      // A game's earnings may still wait for collection.
      return this.#isOwn(record) && (!isDone || record.games.length > 0);
    });
    if (isOwed) return "nothing";
    if (isOver(job, now, sender.address, deployment.parameters.baseClock)) return "all";
    const { executions } = this.#role;
    return executions.knows(job) || executions.awaits(job) ? "nothing" : "inputs";
  };

  readonly round = ({ history, now, blockNumber }: RoundSnapshot, start: Start): void => {
    this.#history = history;
    this.#ends.begin(history, now);
    const attempt = (doing: string, id: string, action: () => Promise<void>) =>
      start(`${doing} ${id}`, () =>
        this.#role.attempt(doing, id, () => this.#races.run(doing, id, blockNumber, action)),
      );
    const own = this.claims;
    for (const record of own) {
      const job = history.jobs.get(record.jobId)!;
      if (record.refuted && this.#role.isNew("refuted", record.id))
        this.#role.report({ kind: "refuted", jobId: job.id, claimId: record.id });
      const alive = !isOpen(record) ? [] : record.games.filter(({ closed }) => closed === undefined);
      for (const game of alive) attempt("game", game.id, () => this.#defend(job, game, now));
      if (alive.length === 0) attempt("claim", record.id, () => this.#ends.tend(job, record, now));
    }
    this.#options.programs.want(own.filter(isOpen).map(({ jobId }) => history.jobs.get(jobId)!.job.programRoot));
  };

  async #defend(job: JobRecord, game: GameRecord, now: bigint): Promise<void> {
    const { session } = this.#options;
    const { arityBits } = session.deployment.parameters;
    // The execution is released before the move reaches a block: many games may be open.
    const planned =
      idleWorkerMove(stateOf(game), now) ??
      (await this.#role.executions.use(job, (execution) => {
        this.#requireRight(job, game, execution);
        return workerMove(execution, stateOf(game), arityBits, now);
      }));
    if (planned === undefined) throw new UndefendedClaimError(`claim ${game.claimId} is disputed, but ${UNKNOWN}`);
    this.#role.report(await sendMove(session, game, planned));
  }

  /**
   * Checks a natively answered claim against the exact execution.
   * @throws WrongClaimError if the claimed root differs from the exact execution
   */
  #requireRight(job: JobRecord, { claimId, key }: GameRecord, { root }: RunExecution): void {
    if (this.#native === undefined || root === key.root) return;
    if (this.#role.isNew("wrong", claimId)) this.#native.wrong(job);
    throw new WrongClaimError(
      `claim ${claimId} is disputed, and wrong: it was answered natively with root ${key.root}, exact execution ` +
        `gives ${root}. The collateral is lost; no move is made`,
    );
  }

  #isOwn({ claim }: ClaimRecord): boolean {
    return isAddressEqual(claim.worker, this.#options.session.sender.address);
  }
}
