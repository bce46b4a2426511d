import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { mlpInput } from "../models/mlp.ts";
import { reference } from "../players/players.ts";
import { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena } from "./arena.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A worker that behaves like the real worker, but executes something else. */
export abstract class WrongExecution extends Adversary {
  readonly expected: Verdict = "refuted by a proof";
  protected abstract execute: Execute;
  protected program = (arena: Arena): KnownProgram => arena.mlp;
  protected inputs = (): Uint8Array[] => [mlpInput(1)];
  /** The number of items in the job's run. */
  protected readonly items: number = 1;

  async attack(arena: Arena): Promise<Verdict> {
    const program = this.program(arena);
    const posted = await arena.post(program, this.inputs(), { items: this.items });
    const key = await arena.players.workerKey();
    const [wealth, own] = [await arena.wealth(key), await arena.wealth(arena.watcherKey)];
    const liar = await arena.players.startWorker(key, program, this.execute);
    const verdict = await arena.death(posted);
    await liar.stop();
    const { collateral, bounty } = posted.requester.deployment.parameters;
    if ((await arena.wealth(key)) > wealth - (collateral * 9n) / 10n) throw new Error("the liar keeps its collateral");
    if ((await arena.wealth(arena.watcherKey)) < own + bounty) throw new Error("the watcher has no bounty");
    return verdict;
  }
}

/** The job's program over constants that were changed. */
const withConstants = (model: CompiledModel, change: (bytes: Uint8Array) => Uint8Array): CompiledModel => ({
  ...model,
  constants: new Map([...model.constants].map(([root, bytes]) => [root, change(bytes)])),
});

/** Executes over other constants, without the check that they are the program's. */
const unchecked =
  (change: (bytes: Uint8Array) => Uint8Array): Execute =>
  (model, inputs) =>
    Promise.resolve(executeReference(withConstants(model, change), inputs));

/** The largest constant has a weight with a wrong bit. */
class WrongWeight extends WrongExecution {
  readonly name = "wrong weight";
  protected execute = unchecked((bytes) => {
    if (bytes.length < 10_000) return bytes;
    const out = Uint8Array.from(bytes);
    out[4 * 1_234 + 2]! ^= 1;
    return out;
  });
}

/** Executes another input than the input that the requester paid for. */
class WrongInput extends WrongExecution {
  readonly name = "wrong input";
  protected execute: Execute = (model) => reference()(model, [mlpInput(999)]);
}

/** Leaves out a layer: the layer's tensor stays zero, and later layers compute from the zeros. */
class SkippedLayer extends WrongExecution {
  readonly name = "skipped layer";
  protected execute: Execute = (model, inputs) =>
    Promise.resolve(executeReference(model, inputs, { onStep: (step, tensor) => void (step === 1 && tensor.fill(0)) }));
}

/** Runs a network of half the width: the other half of the weights is zero. */
class SmallerModel extends WrongExecution {
  readonly name = "smaller model";
  protected execute = unchecked((bytes) => {
    const out = Uint8Array.from(bytes);
    if (out.length > 4 * 10) out.fill(0, out.length / 2);
    return out;
  });
}

/** A number in the middle is wrong, and all later computation follows from the wrong number. */
class ConsistentContinuation extends WrongExecution {
  readonly name = "consistent continuation after the lie";
  protected execute = reference({ step: 0, element: 150 });
}

/** A correct execution except for the last bit of the last step's last element. */
class LastBit extends WrongExecution {
  readonly name = "one bit in the last element";
  protected execute: Execute = (model, inputs) => {
    const last = model.program.steps.length - 1;
    return Promise.resolve(
      executeReference(model, inputs, {
        onStep: (step, tensor) => void (step === last && (tensor[tensor.length - 4]! ^= 1)),
      }),
    );
  };
}

export const WRONG_EXECUTIONS: readonly Adversary[] = [
  new WrongWeight(),
  new WrongInput(),
  new SkippedLayer(),
  new SmallerModel(),
  new ConsistentContinuation(),
  new LastBit(),
];
