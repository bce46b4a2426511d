import type { Arena } from "./arena.ts";

/** How an attack ends. */
export type Verdict =
  | "refuted by a proof"
  | "refuted by the clock"
  | "refuted by concession"
  | "finalised"
  | "refused by the contract"
  | "left alone by honest parties";

/** A named liar, played against the real contracts by way of the real worker and watcher. */
export abstract class Adversary {
  /** What it is called in the table. */
  abstract readonly name: string;
  /** What must come of it. */
  abstract readonly expected: Verdict;

  /** Attacks, and tells what came of it. @throws If anything else that must hold does not. */
  abstract attack(arena: Arena): Promise<Verdict>;
}

/** One line for each adversary. */
export function verdictTable(rows: readonly { name: string; verdict: Verdict }[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows.map(({ name, verdict }) => `    ${name.padEnd(width)}  ${verdict}`).join("\n");
}
