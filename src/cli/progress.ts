import type { CompileProgress } from "../compiler/compile.ts";
import type { Step } from "../program/types.ts";
import { programTerms } from "../program/work.ts";

/** When a command says how far it is: after this long, and then this often. */
const FIRST_MS = 2_000;
const EVERY_MS = 250;
/** Milliseconds between lines where stderr is no terminal. */
const LINE_MS = 10_000;

type Out = { isTTY?: boolean; write: (text: string) => unknown };

/**
 * Called with the work done: a count, or where the pieces differ a share of the whole work. Within a long piece,
 * `inside` reports the piece's progress, and the remaining time is unknown.
 */
export type Progress = (done: number, total: number, share?: number, inside?: string) => void;

/** The line in which a terminal shows a command's progress. Elsewhere each text takes a separate line. */
export class StatusLine {
  readonly #out: Out;
  #isShown = false;

  constructor(out: Out = process.stderr) {
    this.#out = out;
  }

  get isTerminal(): boolean {
    return this.#out.isTTY === true;
  }

  /** How long a text stands before the next is worth showing, milliseconds. */
  get pauseMs(): number {
    return this.#out.isTTY === true ? EVERY_MS : LINE_MS;
  }

  show(text: string): void {
    this.#out.write(this.#out.isTTY === true ? `\r${text}\x1b[K` : `${text}\n`);
    this.#isShown = true;
  }

  /** Makes room for another line. */
  clear(): void {
    if (this.#out.isTTY === true && this.#isShown) this.#out.write("\r\x1b[K");
    this.#isShown = false;
  }
}

/**
 * Reports a command's progress and remaining time, once the command takes longer than two seconds.
 * @param what The things counted.
 */
export function stepProgress(what: string, line: StatusLine, now: () => number = () => performance.now()): Progress {
  const start = now();
  let shown = -Infinity;
  return (done, total, share = done / total, inside = undefined) => {
    const time = now();
    const passed = time - start;
    if (done >= total) return line.clear();
    if (passed < FIRST_MS || time - shown < line.pauseMs) return;
    shown = time;
    if (inside !== undefined) return line.show(`${what} ${done + 1} of ${total}: ${inside}`);
    const left = share > 0 ? `, about ${duration((passed * (1 - share)) / share)} left` : "";
    line.show(`${what} ${done} of ${total}, ${Math.floor(share * 100)} %${left}`);
  };
}

/** The same for a compilation: a loop's body is compiled once for each iteration, and the proofs come last. */
export function compileProgress(progress: Progress): (now: CompileProgress) => void {
  let [last, begun] = [-1, 0];
  return ({ done, total, nodes, steps, proofs }) => {
    if (proofs !== undefined)
      return progress(total - 1, total, undefined, `all done, proof ${proofs.done + 1} of ${proofs.total} steps`);
    if (done !== last) [last, begun] = [done, nodes];
    const inside = nodes - begun;
    progress(done, total, undefined, inside === 0 ? undefined : `${inside} nodes in its body, ${steps} steps in all`);
  };
}

/** The same for an execution, whose steps differ in work. */
export function executionProgress(progress: Progress, steps: readonly Step[]): (done: number, total: number) => void {
  let work = 0;
  const until = [0, ...steps.map((step) => (work += Number(programTerms([step]))))];
  return (done, total) => progress(done, total, until[done]! / work);
}

/** How often the time left is said on a terminal and elsewhere. */
const TICK_MS = 1_000;
const TICK_LINE_MS = 60_000;

/**
 * Reports the remaining time until stopped.
 * @param what Such as `the window ends in`.
 * @param until Unix seconds.
 * @returns a function that stops the reports
 */
export function countdown(what: string, until: bigint, line: StatusLine, now: () => number = Date.now): () => void {
  const timer = setInterval(
    () => {
      const left = Number(until) * 1_000 - now();
      line.show(left > 0 ? `${what} ${duration(left)}` : "waiting for the chain to go on");
    },
    line.isTerminal ? TICK_MS : TICK_LINE_MS,
  );
  timer.unref();
  return () => {
    clearInterval(timer);
    line.clear();
  };
}

/** Milliseconds for people. */
export function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
