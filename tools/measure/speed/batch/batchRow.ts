import * as ort from "onnxruntime-node";
import { compile } from "../../../../src/compiler/compile.ts";
import { toOrt } from "../../../../src/native/plain/ortTensor.ts";
import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import { floatTensor } from "../../../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../../../src/model/onnx/model.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import { executeRun } from "../../../../src/runs/executeRun.ts";
import { knownProgram } from "../../../../src/dispute/run/execution.ts";
import { RunInputs } from "../../../../src/program/trace/runInputs.ts";
import { MODELS } from "../models.ts";
import { median } from "../median.ts";
import type { Execute } from "../../../../src/runs/execute.ts";

/**
 * Milliseconds per item, medians over several runs; and the processor time, all threads, divided by plain
 * onnxruntime's.
 */
export type BatchRow = { model: string; items: number; plain: number; committed: number; processorRatio: number };

const ROUNDS = 5;

/** The same picture, each a little brighter than the one before. */
const pictures = ({ bytes, shape }: TensorData, items: number): TensorData[] => {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  return Array.from({ length: items }, (_, item) => floatTensor([...values.map((x) => x + item / 1_000)], [...shape]));
};

/** Runs a batch on one thread, alternately in a plain onnxruntime loop and as a run with a claim root. */
export async function batchRow(name: string, items: number): Promise<BatchRow> {
  const { bytes, inputs } = MODELS[name]!.load();
  const [[input, picture]] = [...inputs] as [[string, TensorData]];
  const given = pictures(picture, items);
  const program = knownProgram(compile(readModel(bytes), { shapes: { [input]: picture.shape }, run: { batch: true } }));
  const executor = await createExecutor(program.model, { threads: 1 });
  const execute: Execute = async (_, taken, keep, trees) =>
    (await executor.run(taken, { ...(keep && { keep }), ...(trees && { trees }) })).tensors;
  const all = new Uint8Array(Buffer.concat(given.map((each) => each.bytes)));
  const run = new RunInputs(program.model.program.inputs, { items, firstItem: 0 }, [all]);
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
  const session = await ort.InferenceSession.create(bytes, options);
  const work = {
    plain: async (): Promise<void> => {
      for (const each of given) await session.run({ [input]: toOrt(each) });
    },
    committed: async (): Promise<unknown> => (await executeRun(program, run, execute)).root,
  };
  const samples: Record<keyof typeof work, number[]> = { plain: [], committed: [] };
  const processor = { plain: 0, committed: 0 };
  for (let round = 0; round <= ROUNDS; round++)
    for (const kind of ["plain", "committed"] as const) {
      const [start, before] = [performance.now(), process.cpuUsage()];
      await work[kind]();
      // The first round warms up.
      if (round === 0) continue;
      samples[kind].push((performance.now() - start) / items);
      const { user, system } = process.cpuUsage(before);
      processor[kind] += user + system;
    }
  await executor.close();
  await session.release();
  const [plain, committed] = [median(samples.plain), median(samples.committed)];
  return { model: name, items, plain, committed, processorRatio: processor.committed / processor.plain };
}
