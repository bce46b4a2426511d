/**
 * The execution stages whose time is measured. A thread waits if it needs a step that others have not finished.
 * "checks" means checks of single engine results; "compare" means copying the tensors to hash.
 */
export const STAGES = [
  "products",
  "reductions",
  "loops",
  "certify",
  "patch",
  "checks",
  "compare",
  "hash",
  "waiting",
  "other",
] as const;
export type Stage = (typeof STAGES)[number];

const nothing = (): Record<Stage, number> => ({
  products: 0,
  reductions: 0,
  loops: 0,
  certify: 0,
  patch: 0,
  checks: 0,
  compare: 0,
  hash: 0,
  waiting: 0,
  other: 0,
});

/** Adds up the time of each stage; does nothing while it is off. */
export class StageClock {
  milliseconds = nothing();
  #on = false;
  #stage: Stage = "other";
  #since = 0;

  /** Starts from zero, with stage "other". */
  restart(on: boolean): void {
    this.milliseconds = nothing();
    this.resume(on);
  }

  /** Continues, with stage "other". */
  resume(on: boolean): void {
    this.#on = on;
    this.#stage = "other";
    if (on) this.#since = performance.now();
  }

  /** Starts to count time for `stage`. */
  enter(stage: Stage): void {
    if (!this.#on || stage === this.#stage) return;
    const now = performance.now();
    this.milliseconds[this.#stage] += now - this.#since;
    this.#since = now;
    this.#stage = stage;
  }

  stop(): void {
    if (this.#on) this.milliseconds[this.#stage] += performance.now() - this.#since;
    this.#on = false;
  }
}
