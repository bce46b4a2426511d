import type { InsideAttack } from "./attackInside.ts";
import type { OutsideAttack } from "./attackOutside.ts";
import { boundsOf, type Tally } from "./tally.ts";

const percent = (rate: number): string => `${(100 * rate).toPrecision(3)} %`;
const factor = (value: number): string => value.toPrecision(3);

/** Prints how many answers were thin or wrong, and the 95 % upper bounds of their rates. */
export function printCounts(tallies: readonly Tally[]): void {
  console.table(
    tallies.map((tally) => {
      const bounds = boundsOf(tally);
      return {
        model: tally.model,
        answers: tally.answers,
        decisions: tally.answers * tally.decisions,
        thin: tally.thin,
        "thin, at most": percent(bounds.thin),
        differ: tally.differing,
        "differ, at most": percent(bounds.differing),
        accepted: tally.accepted,
        "accepted, at most": percent(bounds.accepted),
        unanswered: tally.unanswered,
        error: Math.max(...tally.errors.map(({ relative }) => relative)).toExponential(2),
      };
    }),
  );
  console.log("at most: 95 % upper bounds; accepted: differ from exact execution although all margins are thick");
}

/** Prints what an attack inside the box reached. */
export function printInside(model: string, found: InsideAttack): void {
  const { inputs, error, differing, defeated, accepted, seconds } = found;
  console.log(`${model}, inside the box; errors and factors are multiples of the calibrated error`);
  console.table({
    "inputs executed both ways": inputs,
    "largest error": factor(error),
    differ: differing,
    "largest factor at which one of these is accepted": differing === 0 ? "none differs" : factor(defeated),
    "accepted at a worker's factor": accepted,
    seconds: Math.round(seconds),
  });
}

/** Prints what an attack outside the box reached, by magnitude. */
export function printOutside(model: string, rows: readonly OutsideAttack[]): void {
  console.log(`${model}, outside the box, as if there were none`);
  console.table(
    rows.map(({ way, magnitude, tries, differing, accepted, seconds }) => ({
      way,
      magnitude: magnitude.toExponential(0),
      tries,
      differ: differing,
      accepted,
      "first after, s": seconds === undefined ? "none" : seconds.toFixed(2),
    })),
  );
}
