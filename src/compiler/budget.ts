import { defaultMib } from "../model/onnx/tensorMemory.ts";
import { CompileBudgetError } from "./errors.ts";

/** What one compilation may take. A limit only refuses: whoever compiles within other limits gets the same program. */
export type CompileLimits = {
  /** Seconds that it takes. */
  seconds: number;
  /** MiB of constants and expressions that it holds, by an estimate that is the same on every machine. */
  mib: number;
  /** Nodes, each iteration of a loop counted. */
  nodes: number;
  /** Elements of constants: one that is moved counts 1, each term of one that is computed {@link COMPUTED}. */
  foldElements: number;
};

/**
 * What a computed term counts. On one core, an element that is moved takes some 50 ns and a term by the definition some
 * 2 us.
 */
const COMPUTED = 32;

/**
 * The largest model of the tests (44 million weights of 8 bits) takes 15 seconds, 382 MiB, 1,084 nodes and 89 million
 * elements.
 */
export const defaultLimits = (): CompileLimits => ({
  seconds: 600,
  mib: defaultMib(),
  nodes: 200_000,
  foldElements: 2 ** 29,
});

const MIB = 2 ** 20;

/** What an expression takes, with its key in the table: between 300 and 700 bytes. */
const EXPRESSION_BYTES = 512;

/** The clock is read once for so many expressions, or for so many elements that are folded. */
const TICKS = 4096;

/** Counts what one compilation takes, and ends it where that is too much. */
export class Budget {
  readonly #limits: CompileLimits;
  readonly #now: () => number;
  readonly #start: number;
  #ticks = 0;
  #bytes = 0;
  #nodes = 0;
  #elements = 0;
  #node = "";
  #operator = "";
  /** Called as a node begins, those of bodies included. @param nodes That have begun. */
  onNode: ((nodes: number) => void) | undefined;

  /** @param now A clock in milliseconds. */
  constructor(limits: Partial<CompileLimits> = {}, now: () => number = () => performance.now()) {
    const given = Object.entries(limits).filter(([, value]) => value !== undefined);
    this.#limits = { ...defaultLimits(), ...(Object.fromEntries(given) as Partial<CompileLimits>) };
    this.#now = now;
    this.#start = now();
  }

  /** A second attempt within the same time, after one that was refused. */
  restart(): void {
    [this.#bytes, this.#nodes, this.#elements] = [0, 0, 0];
  }

  #refuse(limit: keyof CompileLimits, what: string): never {
    throw new CompileBudgetError(this.#operator, this.#node, limit, this.#limits[limit], what);
  }

  /** The node that is compiled, for messages. */
  get place(): { node: string; operator: string } {
    return { node: this.#node, operator: this.#operator };
  }

  set place({ node, operator }: { node: string; operator: string }) {
    [this.#node, this.#operator] = [node, operator];
  }

  /** Begins a node. @throws CompileBudgetError */
  enter(node: string, operator: string): void {
    this.place = { node, operator };
    if (++this.#nodes > this.#limits.nodes) this.#refuse("nodes", `more than ${this.#limits.nodes} nodes`);
    this.checkTime();
    this.onNode?.(this.#nodes);
  }

  /** Refuses a graph that has too many nodes before the first is compiled. @throws CompileBudgetError */
  checkNodes(count: number): void {
    if (count > this.#limits.nodes) this.#refuse("nodes", `${count} nodes, at most ${this.#limits.nodes}`);
  }

  /** Reads the clock. @throws CompileBudgetError */
  checkTime(): void {
    const { seconds } = this.#limits;
    if (this.#now() - this.#start > 1000 * seconds) this.#refuse("seconds", `more than ${seconds} seconds`);
  }

  /** Reads the clock now and then. @throws CompileBudgetError */
  tick(): void {
    if (++this.#ticks % TICKS === 0) this.checkTime();
  }

  /** One more expression is held. @throws CompileBudgetError */
  expression(): void {
    this.hold(EXPRESSION_BYTES);
    this.tick();
  }

  /** So many more bytes are held. @throws CompileBudgetError */
  hold(bytes: number): void {
    this.#bytes += bytes;
    const { mib } = this.#limits;
    if (this.#bytes > mib * MIB) this.#refuse("mib", `more than ${mib} MiB of constants and expressions`);
  }

  /** So many elements of a constant are moved, before they are. @throws CompileBudgetError */
  moveElements(count: number): void {
    this.#elements += count;
    const { foldElements } = this.#limits;
    if (!(this.#elements <= foldElements))
      this.#refuse("foldElements", `${this.#elements} elements of constants computed, at most ${foldElements}`);
  }

  /**
   * So many values are computed at compile time, before they are: terms of a constant, a list.
   * @throws CompileBudgetError
   */
  computeElements(count: number): void {
    this.moveElements(COMPUTED * count);
  }
}
