import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { getOrAdd } from "../../src/base/getOrAdd.ts";
import { Reduce, type ReduceName } from "../../src/program/types.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { Prng } from "../random/prng.ts";
import { drawProgram, type DrawnProgram } from "../soak/programs.ts";
import type { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena } from "./arena.ts";
import { WrongExecution } from "./executions.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A lie about one kind of step: the executed program and inputs, and the change. */
type Lie = { known: KnownProgram; inputs: readonly Uint8Array[]; onStep: (step: number, tensor: Uint8Array) => void };

/** Random programs by their seeds: the liars of all kinds look through the same ones. */
class Drawn {
  readonly #programs = new Map<number, DrawnProgram>();

  of(seed: number): DrawnProgram {
    return getOrAdd(this.#programs, seed, () => drawProgram(new Prng(seed)));
  }
}

/** Finds the lie in the first drawn program where the lie changes a committed tensor. */
function findLie(kind: ReduceName, drawn: Drawn): Lie {
  for (let seed = 1; ; seed++) {
    const { known, inputs, tensors } = drawn.of(seed);
    const { program } = known.model;
    const step = program.steps.findIndex(({ reduce }) => reduce === Reduce[kind]);
    if (step === -1) continue;
    const onStep = (s: number, tensor: Uint8Array): void => {
      if (s === step) tensor[tensor.length >> 1]! ^= 1 << (seed % 8);
    };
    const wrong = executeReference(known.model, inputs, { onStep });
    if (new Trace(program, wrong).root !== new Trace(program, tensors).root) return { known, inputs, onStep };
  }
}

/** Flips a bit of a step with a certain reduction in a random program; the later steps follow from it. */
class BitOfStepKind extends WrongExecution {
  readonly name: string;
  readonly #find: () => Lie;
  #found?: Lie;
  protected execute: Execute = (model, given) =>
    Promise.resolve(executeReference(model, given, { onStep: this.#lie.onStep }));
  protected override program = (): KnownProgram => this.#lie.known;
  protected override inputs = (): Uint8Array[] => [...this.#lie.inputs];

  constructor(kind: ReduceName, drawn: Drawn) {
    super();
    this.name = `one bit of a step with reduction ${kind}`;
    this.#find = () => findLie(kind, drawn);
  }

  override async attack(arena: Arena): Promise<Verdict> {
    await arena.startWatcher([this.#lie.known]);
    return super.attack(arena);
  }

  /** Looked for when the attack is played: it takes seconds. */
  get #lie(): Lie {
    return (this.#found ??= this.#find());
  }
}

/** A lie in a step of every kind. */
export function stepKindLiars(): Adversary[] {
  const drawn = new Drawn();
  return (Object.keys(Reduce) as ReduceName[]).map((kind) => new BitOfStepKind(kind, drawn));
}
