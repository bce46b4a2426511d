/**
 * Compares each program's slowest execution with the program's work, and prints the ten closest programs. The exit
 * status is 1 if a program takes more than half the time allowed by its work.
 */
import { cpus } from "node:os";
import { chosen, file, list, readOptions } from "../../../options.ts";
import { keepFigures } from "../../keepFigures.ts";
import type { MatMulEngine } from "../../../../src/executor/engine/matMulEngine.ts";
import { onnxEngine } from "../../../../src/executor/engine/onnxEngine.ts";
import { folds, operations, reads } from "./elements.ts";
import { measureElementary } from "./elementary.ts";
import { catalogueModels, graphSteps, operatorSteps, randomSteps } from "./generated.ts";
import { manySteps } from "./manySteps.ts";
import { measureWorst, type Worst } from "./measure.ts";
import type { WorstSubject } from "./subject.ts";
import { sums, words } from "./sums.ts";

type Subjects = (engine: MatMulEngine) => Iterable<WorstSubject> | AsyncIterable<WorstSubject>;

/** Programs made for a single weight each, then existing programs and drawn programs. */
const SUBJECTS: Readonly<Record<string, Subjects>> = {
  ...{ sums, words, reads, operations, folds, manySteps },
  ...{ operatorSteps, graphSteps, randomSteps, catalogueModels },
};

const KINDS: Readonly<Record<string, (engine: MatMulEngine) => Promise<Worst[]>>> = {
  ...Object.fromEntries(
    Object.entries(SUBJECTS).map(([kind, subjects]) => [kind, (engine) => measureAll(subjects, engine)]),
  ),
  elementary: measureElementary,
};

/** Shorter executions are not judged: a timer's error matters for them, and `baseWindow` holds any number. */
const MIN_SECONDS = 0.01;
/** The bar: the slowest execution's maximum share of the time allowed by its work. */
const MAX_RATIO = 0.5;
const SHOWN = 10;

const values = readOptions({
  kinds: list("kinds of programs", Object.keys(KINDS)),
  json: file("a file for the figures"),
});
const kinds = chosen(values.kinds, KINDS, "kind");
const engine = await onnxEngine();
const rows: Worst[] = [];
for (const [kind, measure] of kinds) {
  const measured = await measure(engine);
  console.error(`${kind}: ${measured.length} measured`);
  rows.push(...measured);
}
const judged = rows.filter(({ seconds }) => seconds >= MIN_SECONDS).sort((a, b) => b.ratio - a.ratio);
const { length } = judged;
console.log(`${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}; ${rows.length} programs`);
console.log(`${length} take at least ${1000 * MIN_SECONDS} ms; the median of their ratios is ${ratioAt(length >> 1)}`);
console.table(
  judged.slice(0, SHOWN).map(({ name, seconds, allowed, ratio }) => ({
    name,
    "slowest ms": Math.round(1000 * seconds),
    "work allows ms": Math.round(1000 * allowed),
    ratio: Number(ratio.toFixed(3)),
  })),
);
keepFigures(values.json, { cpus: cpus(), rows });
await engine.close();
process.exitCode = judged.every(({ ratio }) => ratio <= MAX_RATIO) ? 0 : 1;

function ratioAt(index: number): string {
  return judged[index]?.ratio.toFixed(3) ?? "none";
}

async function measureAll(subjects: Subjects, engine: MatMulEngine): Promise<Worst[]> {
  const rows: Worst[] = [];
  for await (const subject of subjects(engine)) {
    const row = await measureWorst(subject, engine);
    // Another process may have slowed this one down: what is too slow is measured again.
    rows.push(row.ratio > MAX_RATIO ? await measureWorst(subject, engine) : row);
  }
  return rows;
}
