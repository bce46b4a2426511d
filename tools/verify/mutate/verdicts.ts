import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Outcome } from "./onTests.ts";
import type { Mutant } from "./schemata.ts";

/** A mutant and what became of it. */
export type Tried = Mutant & Outcome;

/** Identifies a mutant, also when ids and lines have moved. */
export const nameOf = ({ file, change, nth }: Mutant): string => `${file}: ${change} (${nth})`;

/** The verdicts in a file of an earlier run. */
export const readVerdicts = (json: string | undefined): Tried[] =>
  json === undefined ? [] : (JSON.parse(readFileSync(json, "utf8")) as Tried[]);

export function keepVerdicts(json: string | undefined, tried: readonly Tried[]): void {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(tried, null, 2)}\n`);
}

/** The verdicts of an earlier run on mutants, and the mutants without one; its file may not be there yet. */
export function withoutKnown<M extends Mutant>(
  mutants: readonly M[],
  json: string | undefined,
): { known: (M & Outcome)[]; left: M[] } {
  const earlier = json !== undefined && existsSync(json) ? json : undefined;
  const verdicts = new Map(readVerdicts(earlier).map((verdict) => [nameOf(verdict), verdict]));
  const known = mutants.flatMap((mutant) => {
    const verdict = verdicts.get(nameOf(mutant));
    return verdict === undefined ? [] : [{ ...verdict, ...mutant }];
  });
  return { known, left: mutants.filter((mutant) => !verdicts.has(nameOf(mutant))) };
}

export const hasSurvived = ({ killer }: Outcome): boolean => killer === undefined;

/** A line about a survivor. */
export const survivorLine = ({ file, line, change, tests }: Tried): string =>
  `survives ${tests} tests: ${file}:${line}: ${change}`;

/** Prints the counts of each file, and the survivors. @returns whether there are none */
export function report(made: readonly Mutant[], tried: readonly Tried[]): boolean {
  const row = (cells: readonly (string | number)[]) =>
    console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(52) : String(cell).padStart(9))).join(""));
  row(["file", "made", "tried", "killed", "survive"]);
  const survivors = tried.filter(hasSurvived);
  for (const file of new Set(made.map((mutant) => mutant.file))) {
    const [all, some, alive] = [made, tried, survivors].map(
      (mutants) => mutants.filter((mutant) => mutant.file === file).length,
    ) as [number, number, number];
    row([file, all, some, some - alive, alive]);
  }
  row(["all", made.length, tried.length, tried.length - survivors.length, survivors.length]);
  for (const survivor of survivors) console.log(survivorLine(survivor));
  return survivors.length === 0;
}
