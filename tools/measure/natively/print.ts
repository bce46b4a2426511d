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

/** Prints what attacks inside the box reached, by model. */
export function printInside(rows: readonly ({ model: string } & InsideAttack)[]): void {
  console.log("inside the box; errors and factors are multiples of the calibrated error");
  console.table(
    rows.map(({ model, inputs, error, differing, defeated, accepted, seconds }) => ({
      model,
      inputs,
      "largest error": factor(error),
      differ: differing,
      "largest factor defeated": differing === 0 ? "none" : factor(defeated),
      accepted,
      seconds: Math.round(seconds),
    })),
  );
}

/** Prints what attacks outside the box reached, by model and magnitude. */
export function printOutside(rows: readonly ({ model: string } & OutsideAttack)[]): void {
  console.log("outside the box, as if there were none");
  console.table(
    rows.map(({ model, magnitude, tries, differing, accepted, seconds }) => ({
      model,
      magnitude: magnitude.toExponential(0),
      tries,
      differ: differing,
      accepted,
      "first after, s": seconds === undefined ? "none" : seconds.toFixed(2),
    })),
  );
}
