/**
 * Compares native decisions with exact decisions. Among N answers per model, half on random inputs: how many are thin,
 * how many differ from exact execution, and how many differing answers the margin rule accepts. With `--attack`:
 * searches inside the box for decisions that flip, and tries inputs outside the box at each magnitude.
 */
import { chosen, decimal, file, flag, list, readOptions, whole } from "../../options.ts";
import { attackInside } from "./attackInside.ts";
import { attackOutside } from "./attackOutside.ts";
import { countDecisions } from "./count.ts";
import { calibratedErrors } from "./measured.ts";
import { printCounts, printInside, printOutside } from "./print.ts";
import { SUBJECTS } from "./subjects.ts";
import { readTallies, writeTallies } from "./tally.ts";

const SUBJECTS_BY_NAME = Object.fromEntries(SUBJECTS.map((subject) => [subject.name, subject]));

const values = readOptions({
  models: list("models whose decisions are counted or attacked", Object.keys(SUBJECTS_BY_NAME)),
  count: whole("answers of each model", 1_000),
  search: whole("inputs that a calibration searches", 128),
  seed: whole("seed of all random inputs", 1),
  json: file("a file for the counts"),
  resume: file("a file of counts, which are gone on with"),
  attack: flag("search for decisions that flip, in place of counting"),
  seconds: decimal("how long an attack searches inside the box", 60),
  tries: whole("inputs that an attack tries outside the box, at each magnitude", 100),
});
const { search, seed } = values;
const subjects = chosen(values.models, SUBJECTS_BY_NAME, "model");

async function count(): Promise<void> {
  const before = values.resume === undefined ? [] : readTallies(values.resume);
  const tallies = new Map(before.map((tally) => [tally.model, tally]));
  const file = values.json ?? values.resume;
  for (const [, subject] of subjects)
    await countDecisions(subject, {
      ...{ count: values.count, seed, search, before: tallies.get(subject.name) },
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
  const { seconds, tries } = values;
  for (const [, subject] of subjects) {
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
