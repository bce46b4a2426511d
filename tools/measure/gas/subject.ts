import { compile, type CompileOptions } from "../../../src/compiler/compile.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorRoot } from "../../../src/program/merkle/tensor.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../../src/model/onnx/preprocess.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { drawText } from "../../../src/deploy/demo/picture.ts";
import type { GameProgram } from "../../../testkit/protocol/chainProgram.ts";

type Shape = readonly [number, number, number, number];

/** A compiled model with the execution on a picture. */
export type Subject = GameProgram & { tensors: Uint8Array[] };

/** Compiles a model of a picture of bytes. @param shape `[1, height, width, 3]` */
export const compiledModel = (path: string, shape: Shape, run?: CompileOptions["run"]): CompiledModel =>
  compile(withImagePreprocessing(readModel(path), PADDLE_OCR_LINE), {
    shapes: { x: [...shape] },
    ...(run === undefined ? {} : { run }),
  });

/**
 * Compiles a model for a byte picture, and executes the model.
 * @param shape `[1, height, width, 3]`
 */
export async function executionOf(path: string, shape: Shape): Promise<Subject> {
  const model = compiledModel(path, shape);
  const { pixels: input } = drawText("REFUTE", shape[2], shape[1], 4);
  const executor = await createExecutor(model);
  const { tensors } = await executor.run([input]);
  await executor.close();
  return {
    model,
    program: model.program,
    commitment: commitProgram(model.program),
    input,
    inputsList: MerkleList.fromHashes([tensorRoot(input)]),
    tensors,
  };
}
