import { programWork, type Step } from "../program/types.ts";

/** When a command says how far it is: after this long, and then this often. */
const FIRST_MS = 2_000;
const EVERY_MS = 250;
/** Where stderr is no terminal, a line this often. */
const LINE_MS = 10_000;

type Out = { isTTY?: boolean; write: (text: string) => unknown };

/** Called with what is done: a count, or where the pieces differ a share of the whole work. */
export type Progress = (done: number, total: number, share?: number) => void;

/** The line in which a terminal shows how far a command is. Elsewhere each text is a line of its own. */
export class StatusLine {
  readonly #out: Out;
  #isShown = false;

  constructor(out: Out = process.stderr) {
    this.#out = out;
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
 * Says how far a command is and how long it will still take, once it takes longer than two seconds.
 * @param what What is counted.
 */
export function stepProgress(what: string, line: StatusLine, now: () => number = () => performance.now()): Progress {
  const start = now();
  let shown = -Infinity;
  return (done, total, share = done / total) => {
    const time = now();
    const passed = time - start;
    if (done >= total) return line.clear();
    if (passed < FIRST_MS || time - shown < line.pauseMs) return;
    shown = time;
    const left = share > 0 ? `, about ${duration((passed * (1 - share)) / share)} left` : "";
    line.show(`${what} ${done} of ${total}, ${Math.floor(share * 100)} %${left}`);
  };
}

/** The same for an execution, whose steps differ in work. */
export function executionProgress(progress: Progress, steps: readonly Step[]): (done: number, total: number) => void {
  let work = 0;
  const until = [0, ...steps.map((step) => (work += Number(programWork([step]))))];
  return (done, total) => progress(done, total, until[done]! / work);
}

/** Milliseconds for people. */
export function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
