import { createExecutor, type Executor } from "../../../../src/executor/createExecutor.ts";
import type { SumForm } from "../../../../src/compiler/passes/shares/sumSteps.ts";
import { TRAINING } from "../../../../src/compiler/wraps/wrapTraining.ts";
import { int64Tensor } from "../../../../src/model/onnx/tensorData.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import { DType } from "../../../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import { Prng } from "../../../../testkit/random/prng.ts";
import { SHARED_BATCH, SHARED_EXAMPLES } from "../../../../testkit/training/sharedExamples.ts";
import { SharedTraining, type ExecuteProgram } from "../../../../testkit/training/shares.ts";
import { floats, mean } from "../../../../testkit/training/trainer.ts";

const [SHARES, STEPS, LAST] = [4, 100, 20];

/** Sums from an undetected liar: own sums, changed, or the former share's. */
const LIES = {
  scale: (own: Float32Array) => own.map((value) => 10 * value),
  flip: (own: Float32Array) => own.map((value) => -value),
  copy: (_: Float32Array, other: Float32Array | undefined) => other?.slice(),
} as const;
type Lie = keyof typeof LIES;

/** Digits that a perceptron learns over four shares. */
class Digits {
  readonly #training: SharedTraining;
  readonly #executors = new Map<CompiledModel, Executor>();
  readonly #made = SHARED_EXAMPLES.perceptron(STEPS);

  constructor() {
    const { onnx, spec, rates } = this.#made;
    this.#training = new SharedTraining(readModel(onnx), { ...spec, rates: rates.length });
  }

  readonly execute: ExecuteProgram = async (compiled, inputs) => {
    const executor = this.#executors.get(compiled) ?? (await createExecutor(compiled, { threads: 1 }));
    this.#executors.set(compiled, executor);
    return (await executor.run(inputs)).tensors;
  };

  /** Executes; the given fraction among the shares (in rounded form) lies. */
  lying(lie: Lie, share: number): ExecuteProgram {
    const prng = new Prng(54);
    let before: (Float32Array | undefined)[] = [];
    return async (compiled, inputs) => {
      const tensors = await this.execute(compiled, inputs);
      if (compiled.inputs.some(({ name }) => name === TRAINING.rates)) return tensors;
      const { outputs, checkpoints, steps } = compiled.program;
      const given = [...tensors];
      const isLie = prng.uint32() < share * 2 ** 32;
      const own = outputs.map((output) => {
        const { step } = checkpoints[output]!;
        if (steps[step]!.dtype !== DType.float32) return undefined;
        return new Float32Array(Uint8Array.from(tensors[step]!).buffer);
      });
      own.forEach((sums, k) => {
        const wrong = isLie && sums !== undefined ? LIES[lie](sums, before[k]) : undefined;
        if (wrong !== undefined) given[checkpoints[outputs[k]!]!.step] = floats(wrong);
      });
      before = own;
      return given;
    };
  }

  /** The last steps' mean loss. @param sums The form of the shares' sums; one worker alone if absent. */
  async loss(sums?: SumForm, execute = this.execute): Promise<number> {
    const { rates, batch } = this.#made;
    const cut = new Array<number>(SHARES).fill(SHARED_BATCH / SHARES);
    let given = new Map([...this.#training.initial].map(([name, { bytes }]) => [name, bytes]));
    const losses: number[] = [];
    const feedback: ReadonlyMap<string, Uint8Array>[] = [];
    for (let step = 0; step < STEPS; step++) {
      const all = new Map([...given, ...Object.entries(batch(step)), [TRAINING.rates, floats(rates)]]);
      all.set(TRAINING.index, int64Tensor([step]).bytes);
      const made = await (sums === undefined
        ? this.#training.whole(all, execute)
        : this.#training.cut(all, cut, execute, { sums, feedback }));
      losses.push(new Float32Array(made.get(TRAINING.loss)!.buffer)[0]!);
      given = new Map([...given.keys()].map((name) => [name, made.get(TRAINING.next(name))!]));
    }
    return mean(losses.slice(-LAST));
  }

  async close(): Promise<void> {
    for (const executor of this.#executors.values()) await executor.close();
  }
}

/** Prints mean losses for digits: by the sums' form, and by the fraction among sums with unchecked lies. */
export async function measureLosses(): Promise<void> {
  const digits = new Digits();
  const forms: Record<string, string> = { "one worker": (await digits.loss()).toFixed(4) };
  for (const sums of ["fixed", "rounded", "bytes", "signs", "top=16", "top=64", "top=256"] as const)
    forms[sums] = (await digits.loss(sums)).toFixed(4);
  console.table(forms);
  const rows: Record<string, Record<string, string>> = {};
  for (const lie of Object.keys(LIES) as Lie[])
    for (const share of [0.02, 0.1, 0.25])
      (rows[`lies: ${100 * share} %`] ??= {})[lie] = (await digits.loss("rounded", digits.lying(lie, share))).toFixed(
        4,
      );
  console.table(rows);
  await digits.close();
}
