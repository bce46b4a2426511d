import { Health, type Condition } from "../../base/health.ts";
import { NO_METER, type Figures, type Meter } from "../../runs/figures.ts";
import type { Logger } from "../../base/log.ts";
import { PledgeStatus } from "../../chain/structs.ts";
import type { OwnExamClaims } from "../../attestation/exams/openExamClaims.ts";
import { runWorker } from "./worker.ts";
import type { WorkerOptions } from "./options.ts";

/** Figures of all games of an account together. */
type Played = Pick<Figures, "openClaims" | "openGames" | "minClock">;

type OnRound = NonNullable<WorkerOptions["onRound"]>;

/** Limits like for the worker's own rounds: if the last round ended longer ago, the games are unreliable. */
const STALE_INTERVALS = 5;
const STALE_MS = 60_000;
const PLAYED = ["openClaims", "openGames", "minClock"] as const;

/** Conditions without meaning for exam games: the game loop claims nothing, and the pledge replaces the stake. */
const NOT_NEEDED: ReadonlySet<Condition> = new Set(["mayClaim"]);

/**
 * Runs a worker together with the games on the worker's own exams, with one key and one sender: the process defends and
 * finalises challenged sittings in parallel. The condition `examGames` reports whether the games are reliable.
 * @param claimContracts The contracts for sittings; if undefined, the worker runs alone.
 * @throws NotPlainAccountError
 */
export async function runWorkerWithExamGames(
  options: WorkerOptions,
  claimContracts: OwnExamClaims | undefined,
): Promise<void> {
  if (claimContracts === undefined) return runWorker(options);
  const { log, health = new Health(log), meter = NO_METER, intervalMs } = options;
  const [ofJobs, ofExams] = together(meter);
  await warnWithoutPledge(claimContracts, log);
  // The loop's conditions form a single worker condition, logged by the worker.
  const own = new Health(SILENT);
  const report = (reason: string | undefined): void =>
    health.set("examGames", reason === undefined ? undefined : { reason });
  // Until the first round.
  report("no round about exams has ended yet");
  let roundAt = Date.now();
  const onExamRound: OnRound = (outcome) => {
    if (outcome === "done") roundAt = Date.now();
    const [first] = own.reasons.filter(({ condition }) => !NOT_NEEDED.has(condition));
    if (outcome === "failed") report("the last round about exams failed");
    else report(first && `${first.condition}: ${first.reason}`);
  };
  const onRound: OnRound = (outcome) => {
    options.onRound?.(outcome);
    if (Date.now() - roundAt > Math.max(STALE_MS, STALE_INTERVALS * intervalMs))
      report("the last round about exams ended too long ago");
  };
  // Gas needed by one loop cannot serve the other loop.
  const needed = { jobs: 0, games: 0 };
  const besideJobs = (own: number): number => ((needed.jobs = own), needed.games);
  const besideGames = (own: number): number => ((needed.games = own), needed.jobs);
  // If one ends, the other does.
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const alone = { device: undefined, exams: undefined, seals: undefined, native: undefined, publisher: undefined };
  const policy = { minFee: 0n, marginSeconds: 0 };
  const about = {
    session: claimContracts.session,
    health: own,
    meter: ofExams,
    onRound: onExamRound,
    log: marked(log),
  };
  const outcomes = await Promise.allSettled(
    [
      runWorker({ ...options, health, meter: ofJobs, onRound, signal, gasBeside: besideJobs }),
      runWorker({ ...options, ...alone, ...about, signal, gasBeside: besideGames, policy, selfAuditSamples: 0 }),
    ].map((running) => running.finally(() => ended.abort())),
  );
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason as Error;
}

/** Logs a warning if no pledge backs the exam sittings. */
async function warnWithoutPledge({ session, claimContracts }: OwnExamClaims, log: Logger): Promise<void> {
  const { address } = session.sender;
  const [pledge, enrolment] = await Promise.all([
    claimContracts.pledges.pledgeOf(address),
    claimContracts.examClaims.enrolmentOf(address),
  ]);
  if (pledge.status === PledgeStatus.active && enrolment.pledged === pledge.time) return;
  const market = session.deployment.market;
  const examClaims = claimContracts.examClaims.address;
  log.warn({ market, examClaims }, "no pledge backs what it sits of exams: refute tickets pledge --exam-claims");
}

/** Returns two meters for one account: open claims and games are summed, and only the first meter reports funds. */
function together(meter: Meter): readonly [Meter, Meter] {
  const last = [{}, {}] as [Partial<Played>, Partial<Played>];
  const sum = (key: "openClaims" | "openGames"): number => (last[0][key] ?? 0) + (last[1][key] ?? 0);
  const meterOf = (k: 0 | 1): Meter => ({
    ...meter,
    figures: (figures) => {
      const isPlayed = PLAYED.some((key) => key in figures);
      if (isPlayed) last[k] = { ...last[k], ...pick(figures) };
      const minClock = Math.min(last[0].minClock ?? Infinity, last[1].minClock ?? Infinity);
      const all = { openClaims: sum("openClaims"), openGames: sum("openGames"), minClock };
      meter.figures({ ...(k === 0 ? figures : {}), ...(isPlayed && all) });
    },
  });
  return [meterOf(0), meterOf(1)];
}

const pick = ({ openClaims, openGames, minClock }: Partial<Figures>): Partial<Played> => ({
  ...(openClaims !== undefined && { openClaims }),
  ...(openGames !== undefined && { openGames }),
  ...(minClock !== undefined && { minClock }),
});

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Returns a log that marks each line with the exams. */
function marked(log: Logger): Logger {
  const mark =
    (level: keyof Logger) =>
    (fields: object | string, message?: string): void =>
      typeof fields === "string"
        ? log[level]({ about: "exams" }, fields)
        : log[level]({ ...fields, about: "exams" }, message);
  return { debug: mark("debug"), info: mark("info"), warn: mark("warn"), error: mark("error") };
}
