import type { KnownProgram } from "../../src/player/execution.ts";
import type { Execute } from "../../src/player/executions.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { Reduce, type ReduceName } from "../../src/program/types.ts";
import { Trace } from "../../src/trace/trace.ts";
import { Prng } from "../random/prng.ts";
import { soakProgram } from "../soak/programs.ts";
import type { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena } from "./arena.ts";
import { WrongExecution } from "./executions.ts";

/** Flips a bit of a step with a certain reduction in a random program; the later steps follow from it. */
class BitOfStepKind extends WrongExecution {
  readonly name: string;
  protected execute: Execute;
  readonly #known: KnownProgram;
  protected override program = (): KnownProgram => this.#known;
  protected override inputs: () => Uint8Array[];

  constructor(kind: ReduceName) {
    super();
    this.name = `one bit of a step with reduction ${kind}`;
    for (let seed = 1; ; seed++) {
      const { known, inputs, tensors } = soakProgram(new Prng(seed));
      const { program } = known.model;
      const step = program.steps.findIndex(({ reduce }) => reduce === Reduce[kind]);
      if (step === -1) continue;
      const onStep = (s: number, tensor: Uint8Array): void => {
        if (s === step) tensor[tensor.length >> 1]! ^= 1 << (seed % 8);
      };
      // Otherwise the lie changes no committed tensor.
      const wrong = executeReference(known.model, inputs, { onStep });
      if (new Trace(program, wrong).root === new Trace(program, tensors).root) continue;
      this.execute = (model, given) => Promise.resolve(executeReference(model, given, { onStep }));
      this.#known = known;
      this.inputs = () => [...inputs];
      return;
    }
  }

  override async attack(arena: Arena): Promise<Verdict> {
    await arena.startWatcher([this.#known]);
    return super.attack(arena);
  }
}

/** A lie in a step of every kind. */
export const stepKindLiars = (): Adversary[] =>
  (Object.keys(Reduce) as ReduceName[]).map((kind) => new BitOfStepKind(kind));
