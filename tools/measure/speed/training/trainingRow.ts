import * as ort from "onnxruntime-node";
import { Budget } from "../../../../src/compiler/budget.ts";
import { compile } from "../../../../src/compiler/compile.ts";
import { expandTraining } from "../../../../src/compiler/training/expandTraining.ts";
import { bindShapes } from "../../../../src/compiler/graph/bindShapes.ts";
import { TRAINING } from "../../../../src/compiler/wraps/wrapTraining.ts";
import { toOrt } from "../../../../src/native/plain/ortTensor.ts";
import { createExecutor, type RunOptions } from "../../../../src/executor/createExecutor.ts";
import { SuccessiveTrees } from "../../../../src/executor/successiveTrees.ts";
import type { CompiledModel } from "../../../../src/program/compiled.ts";
import { RunInputs } from "../../../../src/program/trace/runInputs.ts";
import { carriedTensors, keptSteps } from "../../../../src/program/trace/runItems.ts";
import { Trace } from "../../../../src/program/trace/trace.ts";
import { modelBytes } from "../../../../testkit/onnx/modelBytes.ts";
import { prepareTraining, trainingBytes, type Training } from "../../../../testkit/training/trainer.ts";
import { median } from "../median.ts";

/** Milliseconds of a training step, medians, and of the processor by that of plain onnxruntime, all threads. */
type TrainingRow = {
  model: string;
  weights: number;
  plain: number;
  exact: number;
  committed: number;
  exactProcessor: number;
  committedProcessor: number;
  /** The last loss in plain onnxruntime, and exactly. */
  losses: readonly [plain: number, exact: number];
};

const WARM_UP = 4;

/** Wall time and time of the processor of one way to take the steps. */
class Way {
  readonly #milliseconds: number[] = [];
  #processor = 0;

  async take<T>(action: () => Promise<T>): Promise<T> {
    const [start, before] = [performance.now(), process.cpuUsage()];
    const result = await action();
    this.#milliseconds.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    if (this.#milliseconds.length > WARM_UP) this.#processor += user + system;
    return result;
  }

  get time(): number {
    return median(this.#milliseconds.slice(WARM_UP));
  }

  get processor(): number {
    return this.#processor;
  }
}

/** The items of a run one by one, on one thread. */
async function exactly(model: CompiledModel, inputs: RunInputs, options: () => RunOptions) {
  const { program } = model;
  const executor = await createExecutor(model, { threads: 1 });
  const lossStep = program.checkpoints[program.outputs[0]!]!.step;
  let [carried, item]: [ReadonlyMap<number, Uint8Array> | undefined, number] = [undefined, 0];
  return {
    next: async (): Promise<number> => {
      const chosen = options();
      const { tensors } = await executor.run(inputs.of(item++, carried), chosen);
      if (chosen.trees) void new Trace(program, tensors, chosen.trees).root;
      carried = carriedTensors(program, (step) => tensors[step]!);
      return new Float32Array(Uint8Array.from(tensors[lossStep]!).buffer)[0]!;
    },
    close: () => executor.close(),
  };
}

/** The same graph, its gradients written out, in plain onnxruntime on one thread. */
async function plainly(bytes: Uint8Array, model: CompiledModel, inputs: RunInputs) {
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
  const session = await ort.InferenceSession.create(bytes, options);
  let [item, carried]: [number, Record<string, ort.Tensor>] = [0, {}];
  const feedsOf = (at: number): Record<string, ort.Tensor> =>
    Object.fromEntries(
      inputs.of(at).map((given, k) => [model.inputs[k]!.name, toOrt({ ...model.inputs[k]!, bytes: given })]),
    );
  let feeds = feedsOf(0);
  return {
    next: async (): Promise<number> => {
      const outputs = await session.run({ ...feeds, ...carried });
      carried = Object.fromEntries(
        Object.entries(outputs).flatMap(([name, tensor]) =>
          name === TRAINING.loss ? [] : [[name.slice(0, -"_next".length), tensor]],
        ),
      );
      return (outputs[TRAINING.loss]!.data as Float32Array)[0]!;
    },
    prepare: (): void => void (feeds = feedsOf(++item)),
    close: () => session.release(),
  };
}

/** Trains a model by turns in plain onnxruntime, exactly, and exactly with the trace root of each step. */
export async function trainingRow(name: string, training: Training): Promise<TrainingRow> {
  const items = training.rates.length;
  const { model, run, initial } = prepareTraining(training);
  const compiled = compile(model, { shapes: {}, run });
  const inputs = new RunInputs(
    compiled.program.inputs,
    { items, firstItem: 0 },
    trainingBytes(training, compiled, initial),
  );
  const rewritten = expandTraining(model, bindShapes(model, {}), new Budget());
  const plain = await plainly(modelBytes(rewritten), compiled, inputs);
  const kept = keptSteps(compiled.program);
  const exact = await exactly(compiled, inputs, () => ({ keep: (step) => kept.has(step) }));
  const trees = new SuccessiveTrees();
  const committed = await exactly(compiled, inputs, () => ({ keep: () => false, trees }));
  const ways = { plain: new Way(), exact: new Way(), committed: new Way() };
  let losses: [number, number] = [NaN, NaN];
  for (let item = 0; item < items; item++) {
    if (item > 0) plain.prepare();
    losses = [await ways.plain.take(plain.next), await ways.exact.take(exact.next)];
    await ways.committed.take(committed.next);
  }
  await Promise.all([plain.close(), exact.close(), committed.close()]);
  return {
    ...{ model: name, weights: initial.get(TRAINING.weights)!.shape[0]!, losses },
    ...{ plain: ways.plain.time, exact: ways.exact.time, committed: ways.committed.time },
    exactProcessor: ways.exact.processor / ways.plain.processor,
    committedProcessor: ways.committed.processor / ways.plain.processor,
  };
}
