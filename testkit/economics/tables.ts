import type { Bounds } from "./deployment.ts";
import {
  auditShare,
  breakEven,
  clock,
  longestDelay,
  nativeBreakEven,
  nativeSaving,
  minSelfChallengeLoss,
  selfChallengeLoss,
  shamGameLoss,
  shamGamePerHour,
  squattedClaimPerHour,
  workerFloat,
  wrongClaimPerHour,
  type Deployment,
  type SelfChallenge,
} from "./model.ts";

/** The tables in docs/economics.md, by marker name. */
export type Tables = Record<string, string>;

const GWEI = 1e-9;
const WORK = [1e7, 1e9, 1e11, 1e12];
const PRICES = [1, 5, 25, 40, 50];
const WAYS: readonly SelfChallenge[] = ["one game", "many games", "own blocks"];
const GAMES = [1, 10, 100, 1_000];

/** A figure of a table, in three digits. */
export const number = (value: number): string => String(Number(value.toPrecision(3)));
export const percent = (value: number): string => `${number(value * 100)} %`;
const power = (value: number): string => `10^${Math.log10(value)}`;
export const whole = (value: number): string => Math.round(value).toLocaleString("en");
const hours = (seconds: number): string => number(seconds / 3_600);

/** A table of a page. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** All tables of docs/economics.md. */
export function economicsTables(d: Deployment, bounds: readonly Bounds[]): Tables {
  const [sham, wrong] = [shamGameLoss(d, d.priceCap), minSelfChallengeLoss(d)];
  return {
    bonds: markdown(
      ["k", "worker's worst game, gas", "challenger's, gas", "least bond", "least collateral"],
      bounds.map((b) => [
        String(b.arityBits),
        b.worstWorker.toLocaleString("en"),
        b.worstChallenger.toLocaleString("en"),
        number(b.bond),
        number(b.collateral),
      ]),
    ),
    delay: markdown(
      [
        "work, units",
        "a side's clock, h",
        "longest delay, h",
        "1 h by sham games",
        "1 h by wrong claims",
        "1 h by squatting",
      ],
      WORK.map((work) => [
        power(work),
        hours(clock(d, work)),
        hours(longestDelay(d, work)),
        number(shamGamePerHour(d, work)),
        number(wrongClaimPerHour(d, work)),
        number(squattedClaimPerHour(d, 3_600)),
      ]),
    ),
    defence: markdown(
      [
        "attackers (K)",
        "worker",
        "at 5 gwei",
        "at 50 gwei",
        "watcher: bonds",
        "lost by sham games",
        "lost by wrong claims",
      ],
      GAMES.map((games) => [
        String(games),
        "0",
        number(workerFloat(d.dearestMove, games, 5 * GWEI)),
        number(workerFloat(d.dearestMove, games, 50 * GWEI)),
        number(d.bond * games),
        number(sham * games),
        number(wrong * games),
      ]),
    ),
    selfChallenge: markdown(
      ["base fee, gwei", ...WAYS.map((how) => `in ${how}`)],
      PRICES.map((price) => [
        String(price),
        ...WAYS.map((how) => {
          const loss = selfChallengeLoss(d, price * GWEI, how);
          return `${number(loss)}, ${percent(loss / d.collateral)}`;
        }),
      ]),
    ),
    watcher: markdown(
      ["what one check costs", "lies per check at which bounties pay for it"],
      [1e-6, 1e-5, 1e-4, 1e-3].map((check) => [power(check), `1 in ${number(1 / breakEven(d, check))}`]),
    ),
    audits: markdown(
      ["a lie that passes gains", "jobs to check, if the liar only loses", "if it refutes itself first"],
      [0.001, 0.01, 0.1, 1, 10, 100].map((gain) => [
        String(gain),
        percent(auditShare(gain, d.collateral)),
        percent(auditShare(gain, minSelfChallengeLoss(d))),
      ]),
    ),
    native: markdown(
      [
        "a native execution costs",
        "it saves",
        "jobs that one lost claim undoes",
        "answers, all right, that would show it pays",
      ],
      [1e-6, 1e-5, 1e-4, 1e-3].map((cost) => {
        const rate = nativeBreakEven(d, cost);
        // Rule of three: after N answers without an event, the rate is below 3 in N, at 95 %.
        return [power(cost), number(nativeSaving(cost)), whole(1 / rate), whole(3 / rate)];
      }),
    ),
  };
}
