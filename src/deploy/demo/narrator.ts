/** Prints what happens, line by line. */
export class Narrator {
  #step = 0;
  readonly #start = performance.now();
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  title(line: string): void {
    this.#print(line);
  }

  /** A numbered step's heading. */
  step(title: string): void {
    this.#step++;
    this.#print(`\n${this.#step}. ${title}`);
  }

  /** A line of the current step. */
  narrate(line: string): void {
    this.#print(`   ${line}`);
  }

  seconds(): number {
    return Math.round((performance.now() - this.#start) / 100) / 10;
  }
}

/** An id, shortened for reading. */
export const short = (hex: string): string => `${hex.slice(0, 10)}…${hex.slice(-4)}`;

/** 1,234,567 */
export const grouped = (count: number | bigint): string => count.toLocaleString("en-US");
