/** Reads, compiles and executes a model once like a worker, in a separate process: see `answer`. */
import { compile } from "../../../src/compiler/compile.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import type { MerkleList } from "../../../src/program/merkle/list.ts";
import { shapesOf } from "../../../src/model/onnx/inputs/readInputFile.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { loadModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { answer, type RunRequest, type Stages } from "./figures.ts";

/** The program alone stays in memory, like in a worker. */
function compiled({ path, inputs, bind, mib }: RunRequest, stages: Stages): ReturnType<typeof knownProgram> {
  const limits = { mib };
  const { model } = loadModel({ path, bind, uint8: [], limits });
  stages.end("model read");
  const given = new Map([...inputs].filter(([name]) => !(name in bind)));
  return knownProgram(compile(model, { shapes: shapesOf(given), limits }));
}

answer(async (request, stages) => {
  const known = compiled(request, stages);
  const { model } = known;
  stages.end("compiled, committed");
  const executor = await createExecutor(model, { threads: request.threads });
  stages.end("executor created");
  const { steps, checkpoints, outputs } = model.program;
  const trees = new Map<number, MerkleList>();
  const given = model.inputs.map(({ name }) => request.inputs.get(name)!.bytes);
  // Checkpoints are kept besides.
  const { tensors } = await executor.run(given, { keep: () => false, trees });
  const execution = { ...known, inputs: given, trace: new Trace(model.program, tensors, trees) };
  void execution.trace.root;
  stages.end(`run of ${steps.length} steps`);
  await executor.close();
  return Uint8Array.from(execution.trace.tensor(checkpoints[outputs[0]!]!.step));
});
