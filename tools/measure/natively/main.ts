/**
 * Decisions by native execution against exact ones.
 *
 * - `npm run decisions [-- --models NAMES] [--count N] [--search N] [--seed S] [--json FILE] [--resume FILE]`: of N
 *   answers of each model, half of them on random inputs, how many are thin, how many differ from exact execution, and
 *   how many of these the margin rule accepts. With `--resume` it goes on where FILE ends.
 * - `npm run decisions -- --attack [--models NAMES] [--seconds T] [--tries N]`: searches T seconds inside the box for
 *   decisions that flip, and tries N inputs outside it at each magnitude.
 */
import { parseArgs } from "node:util";
import { attackInside } from "./attackInside.ts";
import { attackOutside } from "./attackOutside.ts";
import { countDecisions } from "./count.ts";
import { calibratedErrors } from "./measured.ts";
import { printCounts, printInside, printOutside } from "./print.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";
import { readTallies, writeTallies } from "./tally.ts";

const { values } = parseArgs({
  options: {
    models: { type: "string" },
    count: { type: "string", default: "1000" },
    search: { type: "string", default: "128" },
    seed: { type: "string", default: "1" },
    json: { type: "string" },
    resume: { type: "string" },
    attack: { type: "boolean", default: false },
    seconds: { type: "string", default: "60" },
    tries: { type: "string", default: "100" },
  },
});

/** @throws Error for anything but a whole number that is not negative */
function whole(name: "count" | "search" | "seed" | "seconds" | "tries"): number {
  const value = Number(values[name]);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} ${values[name]}: expected a whole number`);
  return value;
}

/** @throws Error for a name that no model has */
function subjects(): readonly Subject[] {
  if (values.models === undefined) return SUBJECTS;
  return values.models.split(",").map((name) => {
    const found = SUBJECTS.find((subject) => subject.name === name);
    if (found !== undefined) return found;
    throw new Error(`--models ${name}: expected ${SUBJECTS.map((subject) => subject.name).join(", ")}`);
  });
}

const [search, seed] = [whole("search"), whole("seed")];

async function count(): Promise<void> {
  const before = values.resume === undefined ? [] : readTallies(values.resume);
  const tallies = new Map(before.map((tally) => [tally.model, tally]));
  const file = values.json ?? values.resume;
  for (const subject of subjects())
    await countDecisions(subject, {
      ...{ count: whole("count"), seed, search, before: tallies.get(subject.name) },
      save: (tally) => {
        tallies.set(tally.model, tally);
        if (file !== undefined) writeTallies(file, [...tallies.values()]);
        const { model, answers, thin, differing, accepted } = tally;
        console.log(`${model}: ${answers} answers, ${thin} thin, ${differing} differ, ${accepted} accepted`);
      },
    });
  printCounts([...tallies.values()]);
}

async function attack(): Promise<void> {
  const [seconds, tries] = [whole("seconds"), whole("tries")];
  for (const subject of subjects()) {
    const opened = await subject.open();
    const errors = await calibratedErrors(subject, opened, search, seed);
    // Another seed than the calibration's: an attacker does not search where it was searched.
    printInside(subject.name, await attackInside(subject, opened, errors, { seconds, seed: seed + 1 }));
    const outside = await attackOutside(subject, opened, errors, { tries, seed: seed + 1 });
    if (outside !== undefined) printOutside(subject.name, outside);
    await opened.close();
  }
}

await (values.attack ? attack() : count());
