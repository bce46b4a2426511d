import { RefuteError } from "./errors.ts";
import { withoutPaths } from "./redact.ts";
import type { Logger } from "./log.ts";

const MINUTE = 60_000;

/** How a failing condition is logged, and whether a process needs the condition to be ready. */
type Kind = { level: "warn" | "error"; repeatMs: number; isNeeded: boolean };
const needed = (level: Kind["level"]): Kind => ({ level, repeatMs: 10 * MINUTE, isNeeded: true });

/** The conditions for a reliable worker or watcher. Each role sets the conditions it needs. */
const KINDS = {
  /** Rounds end well, and not long ago. */
  rounds: needed("warn"),
  /** The nodes report a recent head for the chain. */
  chain: needed("warn"),
  /** The market's events are read from the deployment on. */
  events: needed("warn"),
  /** All models are compiled. */
  programs: needed("warn"),
  /** Executions end. */
  executes: needed("error"),
  /** The machines that execute for this process can be asked, and none was found to compute wrongly. */
  fleet: needed("error"),
  /** The run data can be written to disk, and enough room is left for the next job. */
  runsOnDisk: needed("warn"),
  /** A worker's executions pass their self-audit. */
  selfAudit: needed("error"),
  /** The data that open a worker's seals are on disk, and can be kept there. */
  seals: needed("error"),
  /** A watcher's audits end. */
  judges: needed("error"),
  /** Exact executions agree with the native answers that they check. */
  native: needed("error"),
  /** Games can be played from the account. */
  account: needed("error"),
  /** The money covers what is open. */
  pays: needed("warn"),
  /** A worker is attested and has free stake. */
  mayClaim: needed("warn"),
  /** The pledge behind signed claims is active. */
  pledge: needed("error"),
  /** The winners of a worker's tickets can be cashed. */
  cashes: needed("warn"),
  /** A worker plays the games about its exams. */
  examGames: needed("error"),
  /** No GPU was found to compute wrongly: afterwards the CPU computes everything. */
  device: { level: "error", repeatMs: 60 * MINUTE, isNeeded: false },
  /** A worker's dongle answers, and can renew the attestation. */
  renewal: { level: "warn", repeatMs: 60 * MINUTE, isNeeded: false },
  /** A worker sits exams. */
  exams: { level: "warn", repeatMs: 60 * MINUTE, isNeeded: false },
  /** The attestation does not end soon. */
  attestation: { level: "warn", repeatMs: 60 * MINUTE, isNeeded: false },
} satisfies Record<string, Kind>;

export type Condition = keyof typeof KINDS;
/** Why a condition does not hold. */
export type Problem = { reason: string; code?: string };

/** The minimum time between log lines for a condition that fails and recovers repeatedly. */
const MIN_MS = MINUTE;

type State = { problem: Problem | undefined; loggedAt: number; isLogged: boolean };

/**
 * Records whether a process can do its task: named conditions. Each holds or has a reason for failing. The log has a
 * line when a condition fails, again every ten minutes, and when the condition holds again.
 */
export class Health {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #states = new Map<Condition, State>();

  /** @param now The time, milliseconds: one that nobody sets back, or nothing would be logged for as long. */
  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Takes note of a condition. @param problem Why it does not hold; undefined if it does. */
  set(condition: Condition, problem: Problem | undefined): void {
    const { problem: before, loggedAt, isLogged } = this.#states.get(condition) ?? NEW;
    const isOver = before !== undefined && problem === undefined;
    if (isOver && isLogged) this.#log.info({ condition }, `all right again: ${condition}`);
    this.#states.set(condition, { problem, loggedAt, isLogged: isLogged && !isOver });
    this.repeat();
  }

  /** Logs what is due. To be called from time to time. */
  repeat(): void {
    for (const [condition, state] of this.#states) {
      const { problem, loggedAt, isLogged } = state;
      const { level, repeatMs, isNeeded } = KINDS[condition];
      if (problem === undefined || this.#now() - loggedAt < (isLogged ? repeatMs : MIN_MS)) continue;
      this.#log[level]({ condition, ...problem }, `${isNeeded ? "not ready" : "soon not ready"}: ${condition}`);
      this.#states.set(condition, { problem, loggedAt: this.#now(), isLogged: true });
    }
  }

  /** Why a condition does not hold; undefined if it does, or was not looked at. */
  problem(condition: Condition): Problem | undefined {
    return this.#states.get(condition)?.problem;
  }

  /** The conditions that were looked at, and whether they hold. */
  get conditions(): { condition: Condition; holds: boolean }[] {
    return [...this.#states].map(([condition, { problem }]) => ({ condition, holds: problem === undefined }));
  }

  /** Why the process is not ready; empty if it is. */
  get reasons(): { condition: Condition; reason: string }[] {
    return [...this.#states].flatMap(([condition, { problem }]) =>
      problem === undefined || !KINDS[condition].isNeeded ? [] : [{ condition, reason: problem.reason }],
    );
  }
}

const NEW: State = { problem: undefined, loggedAt: -Infinity, isLogged: false };

/**
 * Converts an error into the reason of a failing condition.
 * @param doing The action that failed.
 */
export function problemOf(error: unknown, doing: string): Problem {
  const message = withoutPaths(error instanceof Error ? error.message : String(error));
  return { reason: `${doing}: ${message}`, ...(error instanceof RefuteError && { code: error.code }) };
}
