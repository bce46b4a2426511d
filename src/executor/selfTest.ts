import { compile } from "../compiler/compile.ts";
import { sha256, toHash, zeroHash, type Hash } from "../merkle/hash.ts";
import { depthOf } from "../merkle/sizes.ts";
import type { MerkleList } from "../merkle/list.ts";
import { chunkOf } from "../merkle/tensor.ts";
import { chunksOf } from "../merkle/levels.ts";
import { DType } from "../numerics/dtype.ts";
import { elementCount, type Model, type Node } from "../onnx/model.ts";
import { floatTensor } from "../onnx/tensorData.ts";
import { CannotRunHereError } from "../platform.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { createExecutor, type Executor, type ExecutorOptions } from "./createExecutor.ts";
import { executeReference } from "./reference.ts";

/** A product of these sides has so many rows, terms and columns that onnxruntime computes it. */
const [ROWS, INNER, COLUMNS] = [4, 96, 64];
/** A product with so few columns is left to kernels of our own. */
const FEW = 8;
const HEAD = "the self test of the executor failed";

/** What the self test did. */
export type SelfTestReport = { milliseconds: number; threads: number };

/**
 * Executes a small program on two threads, as jobs are executed, and compares each tensor and each commitment with the
 * definition: products of float32 and of bytes that onnxruntime computes in shared memory, certificates, compiled
 * loops, elementary functions, hashing. It shows that this machine can execute at all, and finds coarse errors; it
 * cannot prove that all results are right.
 * @param create Makes the executor to test.
 * @throws CannotRunHereError
 */
export async function selfTestExecutor(
  create: (model: CompiledModel, options: ExecutorOptions) => Promise<Executor> = createExecutor,
): Promise<SelfTestReport> {
  const began = performance.now();
  const model = compile(network(), { shapes: {} });
  const inputs = [floatTensor(pattern(ROWS * INNER)).bytes];
  const options = { threads: 2, minSplit: 0, evenly: true };
  try {
    const executor = await create(model, options);
    const trees = new Map<number, MerkleList>();
    const { tensors } = await executor.run(inputs, { trees }).finally(() => executor.close());
    compare(model, executeReference(model, inputs), tensors, trees);
  } catch (cause) {
    if (cause instanceof CannotRunHereError) throw cause;
    const [reason] = (cause as Error).message.split("\n");
    throw new CannotRunHereError(`${HEAD}: ${reason}; nothing can be executed here`, { cause });
  }
  return { milliseconds: Math.round(performance.now() - began), threads: options.threads };
}

/** @throws CannotRunHereError unless all tensors and roots are those of the definition */
function compare(
  { program, origins }: CompiledModel,
  expected: readonly Uint8Array[],
  tensors: readonly Uint8Array[],
  trees: ReadonlyMap<number, MerkleList>,
): void {
  const wrong = expected.findIndex((bytes, step) => Buffer.compare(bytes, tensors[step] ?? new Uint8Array()) !== 0);
  if (wrong >= 0)
    throw new CannotRunHereError(
      `${HEAD}: step ${wrong} (${origins[wrong]!.operator}) has other bits than the definition; use another machine`,
    );
  for (const { step } of program.checkpoints)
    if (trees.get(step)?.root !== rootByDefinition(expected[step]!))
      throw new CannotRunHereError(`${HEAD}: the hashes of step ${step} are wrong; use another machine`);
}

/** The root of a tensor's tree (docs/program.md, "Merkle lists"), by Node's own SHA-256. */
function rootByDefinition(tensor: Uint8Array): Hash {
  const width = chunksOf(tensor.length);
  let level = Array.from({ length: width }, (_, k) => sha256(chunkOf(tensor, k)));
  for (let height = 0; height < depthOf(width); height++)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, k) =>
      sha256(level[2 * k]!, level[2 * k + 1] ?? zeroHash(height)),
    );
  return toHash(level[0]!);
}

/** Small fractions of both signs and of many magnitudes: sums of their products are rounded. */
const pattern = (count: number): number[] =>
  Array.from({ length: count }, (_, k) => (((k * 7_919) % 2_003) - 1_001) / (3 + (k % 17) ** 3));

/** Plain and quantised products, and a Softmax between two of them. */
function network(): Model {
  const weights = (shape: readonly number[]) => floatTensor(pattern(elementCount(shape)), shape);
  return {
    source: "self test",
    irVersion: 8,
    opsets: new Map([["", 17]]),
    graph: {
      name: "self test",
      inputs: [{ name: "x", dtype: DType.float32, shape: [ROWS, INNER] }],
      outputs: [
        { name: "narrow", dtype: DType.float32, shape: [ROWS, FEW] },
        { name: "integers", dtype: DType.int32, shape: [ROWS, COLUMNS] },
      ],
      initializers: new Map([
        ["w", weights([INNER, COLUMNS])],
        ["v", weights([COLUMNS, FEW])],
      ]),
      nodes: [
        node("MatMul", ["x", "w"], ["product"]),
        node("Softmax", ["product"], ["probabilities"]),
        node("MatMul", ["probabilities", "v"], ["narrow"]),
        node("DynamicQuantizeLinear", ["x"], ["left", "leftScale", "leftZero"]),
        node("DynamicQuantizeLinear", ["w"], ["right", "rightScale", "rightZero"]),
        node("MatMulInteger", ["left", "right", "leftZero", "rightZero"], ["integers"]),
      ],
    },
  };
}

const node = (operator: string, inputs: readonly string[], outputs: readonly string[]): Node => ({
  ...{ name: outputs[0]!, operator, domain: "", inputs, outputs },
  attributes: new Map(),
});
