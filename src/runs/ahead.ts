import type { ClaimForm } from "../chain/market/claimForm.ts";
import { isOfEachItem } from "../program/trace/answer.ts";
import { bytesOf } from "../program/trace/runInputs.ts";
import type { Carried } from "../program/trace/runItems.ts";
import type { Program } from "../program/types.ts";
import { programWork, WORK_PER_SECOND } from "../program/work.ts";
import type { AskOutput, StretchResult } from "./execute.ts";

/** Stretches that are executed or wait for their turn to count, from guessed beginnings. */
const AT_ONCE = 8;

/**
 * The largest share of the remaining time for stretches from unbound states, together and at their slowest: a hostile
 * state makes all sums slow, and executors do not stop in the middle of a stretch.
 */
const UNBOUND_SHARE = 1 / 8;

/** Somebody's answers about the items of a run. */
export type Said = {
  output: AskOutput;
  /** States without a root: asked for if the outputs do not give the states. */
  snapshots?: Snapshots | undefined;
};

/** Published snapshots of a run. A wrong snapshot costs only time, but more time than a wrong output. */
export type Snapshots = {
  /**
   * Asks for the carried tensors before an item, concatenated in the order of the inputs.
   * @param bytes The expected length.
   */
  ask: (item: number, bytes: number) => Promise<Uint8Array | undefined>;
  /** Called once a snapshot was found wrong. */
  onWrong: () => void;
};

/** Gives the carried tensors before an item: perhaps wrong, undefined if unknown. */
export type States = {
  of: (item: number) => Promise<Carried | undefined>;
  /** For states that no root binds. */
  unbound?: {
    /** Returns the seconds until the run is due. */
    secondsLeft: () => number;
    onWrong: () => void;
  };
};

type CarriedInput = { k: number; bytes: number; output: number };

/**
 * Finds a run's states in somebody's answers: outputs that the claim holds for each item, otherwise snapshots.
 * @param form Of the claim: decides which items' outputs the claim holds.
 * @param secondsLeft Returns the seconds until the run is due.
 */
export function statesFrom(
  program: Program,
  form: ClaimForm,
  { output: ask, snapshots }: Said,
  secondsLeft: () => number,
): States | undefined {
  const carried = program.inputs.flatMap((input, k): CarriedInput[] =>
    input.source?.kind === "carried"
      ? [{ k, bytes: bytesOf(input), output: program.outputs.indexOf(input.source.checkpoint) }]
      : [],
  );
  const isBound = carried.every(({ output }) => output >= 0 && (form === "trace" || isOfEachItem(program, output)));
  if (isBound) return { of: (item) => fromOutputs(carried, item, ask) };
  if (snapshots === undefined) return undefined;
  const all = carried.reduce((sum, { bytes }) => sum + bytes, 0);
  const of = async (item: number): Promise<Carried | undefined> => split(carried, await snapshots.ask(item, all));
  return { of, unbound: { secondsLeft, onWrong: snapshots.onWrong } };
}

async function fromOutputs(
  carried: readonly CarriedInput[],
  item: number,
  ask: AskOutput,
): Promise<Carried | undefined> {
  const state = new Map<number, Uint8Array>();
  for (const { k, bytes, output } of carried) {
    const tensor = await ask(item - 1, output);
    if (tensor?.length !== bytes) return undefined;
    state.set(k, tensor);
  }
  return state;
}

function split(carried: readonly CarriedInput[], snapshot: Uint8Array | undefined): Carried | undefined {
  let at = 0;
  const state = new Map(carried.map(({ k, bytes }) => [k, snapshot?.subarray(at, (at += bytes)) ?? new Uint8Array()]));
  return snapshot?.length === at ? state : undefined;
}

type ExecutePart = (from: number, to: number, carried: Carried) => Promise<StretchResult>;
type Begun = { to: number; seconds: number; carried: Carried; result: Promise<StretchResult | undefined> };

/**
 * Executes a serial run's stretches side by side, each from a guessed state. A result counts if the stretch before ends
 * with the same state: a wrong guess costs time alone. After a wrong guess, no other guess is believed.
 */
export class Ahead {
  readonly #begun = new Map<number, Begun>();
  readonly #states: States;
  readonly #execute: ExecutePart;
  /** Seconds of the slowest item. */
  readonly #itemSeconds: number;
  /** The first item behind the beginning of the due stretch. */
  #due = 0;
  #isEnded = false;
  #taken: () => void = () => undefined;

  constructor(program: Program, states: States, execute: ExecutePart) {
    [this.#states, this.#execute] = [states, execute];
    this.#itemSeconds = Number(programWork(program)) / WORK_PER_SECOND;
  }

  /**
   * Begins stretches, some at a time, where states are known.
   * @param end The item behind the last stretch.
   * @param endOf Returns where a stretch ends.
   */
  async begin(from: number, end: number, endOf: (from: number) => number): Promise<void> {
    for (let to: number; from < end && !this.#isEnded; from = to) {
      to = endOf(from);
      const seconds = (to - from) * this.#itemSeconds;
      while (!this.#hasRoom(seconds)) {
        if (this.#begun.size === 0) return;
        await new Promise<void>((taken) => (this.#taken = taken));
      }
      if (this.#isEnded || from < this.#due) continue;
      const carried = await this.#states.of(from).catch(() => undefined);
      if (carried === undefined || this.#isEnded || from < this.#due) continue;
      const result = this.#execute(from, to, carried).catch(() => undefined);
      this.#begun.set(from, { to, seconds, carried, result });
    }
  }

  /** Whether a stretch with this slowest time, in seconds, may begin beside the begun stretches. */
  #hasRoom(seconds: number): boolean {
    if (this.#begun.size >= AT_ONCE) return false;
    const { unbound } = this.#states;
    const together = [...this.#begun.values()].reduce((sum, begun) => sum + begun.seconds, seconds);
    return unbound === undefined || together <= UNBOUND_SHARE * unbound.secondsLeft();
  }

  /**
   * Returns a stretch's result if the stretch began with the right state.
   * @param to The item behind the stretch.
   * @param carried What the first item takes.
   * @returns undefined without such a stretch
   */
  async take(from: number, to: number, carried: Carried): Promise<StretchResult | undefined> {
    this.#due = from + 1;
    const begun = this.#begun.get(from);
    if (begun === undefined) return undefined;
    this.#begun.delete(from);
    const isRight = [...begun.carried].every(([input, bytes]) => Buffer.compare(bytes, carried.get(input)!) === 0);
    if (!isRight) {
      this.end();
      this.#states.unbound?.onWrong();
    }
    this.#taken();
    return isRight && begun.to === to ? begun.result : undefined;
  }

  /** Begins no other stretch. */
  end(): void {
    this.#isEnded = true;
    this.#begun.clear();
    this.#taken();
  }
}
