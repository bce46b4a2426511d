import { bytesOf } from "../program/trace/runInputs.ts";
import type { Carried } from "../program/trace/runItems.ts";
import type { Program } from "../program/types.ts";
import type { AskOutput, StretchResult } from "./execute.ts";

/** Stretches that are executed or wait for their turn to count, from guessed beginnings. */
const AT_ONCE = 8;

/** Asks what an item takes from the item before: somebody's answer, perhaps a wrong one. */
export type AskState = (item: number) => Promise<Carried | undefined>;

/**
 * Asks for a run's state by the run's outputs.
 * @returns undefined if a carried tensor is no output: then nobody can show the tensor under the root of a claim
 */
export function stateFromOutputs({ inputs, outputs }: Program, ask: AskOutput): AskState | undefined {
  const carried = inputs.flatMap((input, k) =>
    input.source?.kind === "carried"
      ? [{ k, bytes: bytesOf(input), output: outputs.indexOf(input.source.checkpoint) }]
      : [],
  );
  if (carried.some(({ output }) => output < 0)) return undefined;
  return async (item) => {
    const state = new Map<number, Uint8Array>();
    for (const { k, bytes, output } of carried) {
      const tensor = await ask(item - 1, output);
      if (tensor?.length !== bytes) return undefined;
      state.set(k, tensor);
    }
    return state;
  };
}

type ExecutePart = (from: number, to: number, carried: Carried) => Promise<StretchResult>;
type Begun = { to: number; carried: Carried; result: Promise<StretchResult | undefined> };

/**
 * Executes a serial run's stretches side by side, each from a guessed state. A result counts if the stretch before ends
 * with the same state: a wrong guess costs time alone. After a wrong guess, no other guess is believed.
 */
export class Ahead {
  readonly #begun = new Map<number, Begun>();
  readonly #ask: AskState;
  readonly #execute: ExecutePart;
  /** The first item behind the beginning of the due stretch. */
  #due = 0;
  #isEnded = false;
  #taken: () => void = () => undefined;

  constructor(ask: AskState, execute: ExecutePart) {
    [this.#ask, this.#execute] = [ask, execute];
  }

  /**
   * Begins stretches, some at a time.
   * @param end The item behind the last stretch.
   * @param endOf Returns where a stretch ends.
   */
  async begin(from: number, end: number, endOf: (from: number) => number): Promise<void> {
    for (let to: number; from < end && !this.#isEnded; from = to) {
      to = endOf(from);
      while (this.#begun.size >= AT_ONCE) await new Promise<void>((taken) => (this.#taken = taken));
      if (this.#isEnded || from < this.#due) continue;
      const carried = await this.#ask(from).catch(() => undefined);
      if (carried === undefined) return;
      if (this.#isEnded || from < this.#due) continue;
      this.#begun.set(from, { to, carried, result: this.#execute(from, to, carried).catch(() => undefined) });
    }
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
    if (!isRight) this.end();
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
