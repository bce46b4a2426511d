import { defaultMib } from "../model/onnx/tensorMemory.ts";
import { CompileBudgetError } from "./errors.ts";

/** The limits of one compilation. A limit only refuses: other limits that admit the model give the same program. */
export type CompileLimits = {
  /** Seconds that it takes. */
  seconds: number;
  /** Maximum MiB of constants and expressions held, by an estimate equal on every machine. */
  mib: number;
  /** Nodes, each iteration of a loop counted. */
  nodes: number;
  /** Elements of constants: a moved element counts 1, each term of a computed element counts {@link COMPUTED}. */
  foldElements: number;
};

/**
 * The count of a computed term. On one core, moving an element takes some 50 ns and a term by the definition some 2 us.
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

/** Bytes charged for an expression with the expression's key in the table: in fact between 300 and 700. */
const EXPRESSION_BYTES = 512;

/** Expressions, or folded elements, between two readings of the clock. */
const TICKS = 4096;

/** Counts one compilation's resources, and ends the compilation beyond a limit. */
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
  /** Called when a node begins, nodes in bodies included. @param nodes The number of nodes begun. */
  onNode: ((nodes: number) => void) | undefined;

  /** @param now A clock in milliseconds. */
  constructor(limits: Partial<CompileLimits> = {}, now: () => number = () => performance.now()) {
    const given = Object.entries(limits).filter(([, value]) => value !== undefined);
    this.#limits = { ...defaultLimits(), ...(Object.fromEntries(given) as Partial<CompileLimits>) };
    this.#now = now;
    this.#start = now();
  }

  /** Begins a second attempt within the same time, after a refused attempt. */
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

  /** Refuses a graph with too many nodes before compiling the first node. @throws CompileBudgetError */
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

  /** Counts constant elements before they are moved. @throws CompileBudgetError */
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
