import { programWork, type Step } from "../program/types.ts";

/** When a command says how far it is: after this long, and then this often. */
const FIRST_MS = 2_000;
const EVERY_MS = 250;
/** Where stderr is no terminal, a line this often. */
const LINE_MS = 10_000;

type Out = { isTTY?: boolean; write: (text: string) => unknown };

/**
 * Says on stderr how far a command is and how long it will still take, once it takes longer than two seconds.
 * @param what What is counted.
 * @returns Called with what is done: a count, or where the pieces differ a share of the whole work.
 */
export function stepProgress(
  what = "step",
  out: Out = process.stderr,
  now: () => number = () => performance.now(),
): (done: number, total: number, share?: number) => void {
  const start = now();
  let shown = -Infinity;
  return (done, total, share = done / total) => {
    const time = now();
    const passed = time - start;
    if (passed < FIRST_MS) return;
    if (done >= total) {
      if (out.isTTY === true && shown > -Infinity) out.write("\r\x1b[K");
      return;
    }
    if (time - shown < (out.isTTY === true ? EVERY_MS : LINE_MS)) return;
    shown = time;
    const left = share > 0 ? `, about ${duration((passed * (1 - share)) / share)} left` : "";
    const text = `${what} ${done} of ${total}, ${Math.floor(share * 100)} %${left}`;
    out.write(out.isTTY === true ? `\r${text}\x1b[K` : `${text}\n`);
  };
}

/** The same for an execution, whose steps differ in work. */
export function executionProgress(steps: readonly Step[]): (done: number, total: number) => void {
  const progress = stepProgress();
  let work = 0;
  const until = [0, ...steps.map((step) => (work += Number(programWork([step]))))];
  return (done, total) => progress(done, total, until[done]! / work);
}

/** Milliseconds for people. */
export function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000);
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
