import type { Arena } from "./arena.ts";
import type { Verdict } from "./verdict.ts";

/** A named liar, played against the real contracts by way of the real worker and watcher. */
export abstract class Adversary {
  /** What it is called in the table. */
  abstract readonly name: string;
  /** What must come of it. */
  abstract readonly expected: Verdict;

  /** Attacks, and tells what came of it. @throws If anything else that must hold does not. */
  abstract attack(arena: Arena): Promise<Verdict>;
}
