import { compile } from "../../src/compiler/compile.ts";
import type { Share } from "../../src/compiler/passes/shares/cutBatch.ts";
import type { TrainSpec } from "../../src/compiler/wraps/trainSpec.ts";
import { TRAINING, wrapTraining } from "../../src/compiler/wraps/wrapTraining.ts";
import type { Model, TensorData } from "../../src/model/onnx/model.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { bytesOf } from "../../src/program/trace/runInputs.ts";

/** Executes a program. @returns every step's tensor */
export type ExecuteProgram = (
  compiled: CompiledModel,
  inputs: readonly Uint8Array[],
) => Promise<readonly Uint8Array[]> | readonly Uint8Array[];

/** Tensors by the names of inputs or outputs. */
type Named = ReadonlyMap<string, Uint8Array>;

type CutOptions = {
  sums?: Share["sums"];
  rowInputs?: readonly string[];
  feedback?: ReadonlyMap<string, Uint8Array>[];
};

/** Whether an input is a share's feedback. */
export const isFeedback = (name: string): boolean => name.startsWith("feedback_");

function zerosOf({ program, inputs }: CompiledModel, name: string): Uint8Array {
  return new Uint8Array(bytesOf(program.inputs[inputs.findIndex((input) => input.name === name)]!));
}

/** Trains a model over shares, in one process. */
export class SharedTraining {
  readonly #model: Model;
  readonly #spec: TrainSpec;
  readonly #programs = new Map<string, CompiledModel>();
  /** The first state: weights, then the optimiser's state. */
  readonly initial: ReadonlyMap<string, TensorData>;

  constructor(model: Model, spec: TrainSpec) {
    this.#model = model;
    this.#spec = spec;
    this.initial = wrapTraining(model, spec).initial;
  }

  /** The program of a share; without a share, of the whole step. */
  program(share?: Share): CompiledModel {
    const key = JSON.stringify(share);
    const known = this.#programs.get(key);
    if (known !== undefined) return known;
    const { model, run } = wrapTraining(this.#model, { ...this.#spec, share });
    const made = compile(model, { shapes: {}, run });
    this.#programs.set(key, made);
    return made;
  }

  /** The outputs of one program, by name. */
  async #outputs(compiled: CompiledModel, given: Named, execute: ExecuteProgram): Promise<Map<string, Uint8Array>> {
    const inputs = compiled.inputs.map(({ name }) => given.get(name)!);
    const tensors = await execute(compiled, inputs);
    const { outputs, checkpoints } = compiled.program;
    return new Map(
      compiled.outputs.map(({ name }, k) => [name, Uint8Array.from(tensors[checkpoints[outputs[k]!]!.step]!)]),
    );
  }

  /** One step of a worker alone. @returns the loss and the next state */
  whole(given: Named, execute: ExecuteProgram): Promise<Map<string, Uint8Array>> {
    return this.#outputs(this.program(), given, execute);
  }

  /**
   * One step over shares of the batch.
   * @param examples For each share; together the whole batch.
   * @param rowInputs Inputs with examples as first dimension.
   * @param feedback The shares' feedbacks by name, a map for each share; replaced by the next step's. A missing
   *   feedback is zeros.
   */
  async cut(
    given: Named,
    examples: readonly number[],
    execute: ExecuteProgram,
    { sums, rowInputs = ["x", TRAINING.labels], feedback = [] }: CutOptions = {},
  ): Promise<Map<string, Uint8Array>> {
    const batch = examples.reduce((sum, count) => sum + count, 0);
    const parts = new Map<string, Uint8Array[]>();
    let first = 0;
    for (const [share, count] of examples.entries()) {
      const own = new Map(
        [...given].map(([name, bytes]) => {
          const row = bytes.length / batch;
          return [name, rowInputs.includes(name) ? bytes.slice(first * row, (first + count) * row) : bytes];
        }),
      );
      first += count;
      const part = this.program({ part: count, sums });
      for (const { name } of part.inputs.filter((input) => isFeedback(input.name)))
        own.set(name, feedback[share]?.get(name) ?? zerosOf(part, name));
      const made = await this.#outputs(part, own, execute);
      const after = part.inputs.map(({ name }) => [name, made.get(TRAINING.next(name))] as const);
      feedback[share] = new Map(after.flatMap(([name, bytes]) => (bytes === undefined ? [] : [[name, bytes]])));
      for (const [name, bytes] of made) parts.set(name, [...(parts.get(name) ?? []), bytes]);
    }
    const joined = new Map([...parts].map(([name, all]) => [name, new Uint8Array(Buffer.concat(all))]));
    const join = this.program({ join: examples.length, sums });
    return this.#outputs(join, new Map([...given, ...joined]), execute);
  }
}
