import type { Arena } from "./arena.ts";
import type { Verdict } from "./verdict.ts";

/** An attack with a name, against the real contracts, worker and watcher. */
export abstract class Adversary {
  /** Its name in the table. */
  abstract readonly name: string;
  /** The verdict that it must have. */
  abstract readonly expected: Verdict;

  /** Attacks, and returns the verdict. @throws Error if anything else that must hold does not. */
  abstract attack(arena: Arena): Promise<Verdict>;
}
