import { deflateRawSync } from "node:zlib";
import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import { int64Tensor } from "../../../../src/model/onnx/tensorData.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import { SUM_FORMS, type SumForm } from "../../../../src/compiler/passes/shares/sumSteps.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import { TRAINING } from "../../../../src/compiler/wraps/wrapTraining.ts";
import { SHARED_BATCH, SHARED_EXAMPLES } from "../../../../testkit/training/sharedExamples.ts";
import { SharedTraining, type ExecuteProgram } from "../../../../testkit/training/shares.ts";
import { floats, type Training } from "../../../../testkit/training/trainer.ts";

const SHARES = 4;
/** Steps of each model; the last one is measured. */
const STEPS = 3;

/** One form of a step over shares, measured. */
type SharesRow = {
  model: string;
  weights: number;
  form: SumForm;
  /** Bytes from a share, plain and deflated; bytes into the joining job. */
  share: number;
  deflated: number;
  joined: number;
  /** Milliseconds: the uncut step, all shares together, the joining program. */
  whole: number;
  shares: number;
  join: number;
  /** Whether the next state equals the uncut step's, bit by bit. */
  isSame: boolean;
};

/** Measures a step of a training over shares, in each form. */
async function sharesRows(model: string, { onnx, spec, rates, batch }: Training): Promise<SharesRow[]> {
  const training = new SharedTraining(readModel(onnx), { ...spec, rates: rates.length });
  const executors = new Map<CompiledModel, Awaited<ReturnType<typeof createExecutor>>>();
  let [milliseconds, joining] = [0, 0];
  const execute: ExecuteProgram = async (compiled, inputs) => {
    const executor = executors.get(compiled) ?? (await createExecutor(compiled, { threads: 1 }));
    executors.set(compiled, executor);
    const start = performance.now();
    const { tensors } = await executor.run(inputs);
    joining = performance.now() - start;
    milliseconds += joining;
    return tensors;
  };
  const cut = new Array<number>(SHARES).fill(SHARED_BATCH / SHARES);
  const rows: SharesRow[] = [];
  for (const form of SUM_FORMS) {
    let given = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
    let row: SharesRow | undefined;
    for (let step = 0; step < STEPS; step++) {
      const all = new Map([...given, ...Object.entries(batch(step)), [TRAINING.rates, floats(rates)]]);
      all.set(TRAINING.index, int64Tensor([step]).bytes);
      milliseconds = 0;
      const alone = await training.whole(all, execute);
      const whole = milliseconds;
      milliseconds = 0;
      let sums: readonly Uint8Array[] = [];
      const watching: ExecuteProgram = (compiled, inputs) => {
        const names = compiled.inputs.map(({ name }) => name);
        if (names.includes(TRAINING.rates)) sums = inputs.filter((_, k) => /^sum_/.test(names[k]!));
        return execute(compiled, inputs);
      };
      const joined = await training.cut(all, cut, watching, form === "exact" ? {} : { sums: form });
      const bytes = sums.reduce((sum, { length }) => sum + length, 0);
      row = {
        ...{ model, form, weights: training.initial.get(TRAINING.weights)!.shape[0]! },
        ...{ share: bytes / SHARES, joined: bytes, whole, join: joining, shares: milliseconds - joining },
        deflated: Math.round(sums.reduce((sum, each) => sum + deflateRawSync(each, { level: 1 }).length, 0) / SHARES),
        isSame: [...alone].every(([name, each]) => Buffer.from(each).equals(joined.get(name)!)),
      };
      given = new Map([...given.keys()].map((name) => [name, joined.get(TRAINING.next(name))!]));
    }
    rows.push(row!);
  }
  for (const executor of executors.values()) await executor.close();
  return rows;
}

/** Prints the bytes and the times of a training step over four shares, in each form. */
export async function measureShares(): Promise<void> {
  const rows: SharesRow[] = [];
  for (const [name, training] of Object.entries(SHARED_EXAMPLES))
    rows.push(...(await sharesRows(name, training(STEPS))));
  console.table(
    rows.map(({ isSame, whole, shares, join, ...row }) => ({
      ...row,
      ...{ "one worker, ms": Math.round(whole), "shares, ms": Math.round(shares), "join, ms": Math.round(join) },
      "bits of one worker": isSame,
    })),
  );
}
