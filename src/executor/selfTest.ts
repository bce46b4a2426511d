import { compile } from "../compiler/compile.ts";
import { sha256, toHash, zeroHash, type Hash } from "../program/merkle/hash.ts";
import { depthOf } from "../program/merkle/sizes.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import { chunkOf } from "../program/merkle/tensor.ts";
import { chunksOf } from "../program/merkle/levels.ts";
import { CannotRunHereError } from "../base/platform.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { freshSeed, Prng } from "../base/prng.ts";
import { createExecutor, maxThreads, type Executor, type ExecutorOptions } from "./createExecutor.ts";
import { executeReference } from "./reference.ts";
import { selfTestModel } from "./selfTestModels.ts";

const HEAD = "the self test of the executor failed";

/** The result of a self test. */
export type SelfTestReport = { milliseconds: number; threads: number };

/**
 * Executes a small program, partly with random numbers and shapes, in the same way as jobs. It runs on one thread, and
 * on the threads for jobs (at least two); there the engine computes all products, however small. Each tensor and each
 * commitment is compared with the definition, each engine result with its exact sum, and the outputs of blocks of items
 * with the definition. The test covers products of float32 and of bytes by onnxruntime in shared memory, certificates,
 * compiled loops, elementary functions, and hashing. Success shows that this machine can execute at all, and finds
 * coarse errors; the test cannot prove all results right.
 * @param create Makes the executor to test.
 * @param seed The seed for numbers and shapes. Error messages name the seed, to repeat a failure.
 * @throws CannotRunHereError
 */
export async function selfTestExecutor(create: Create = createExecutor, seed = freshSeed()): Promise<SelfTestReport> {
  const began = performance.now();
  const threads = Math.max(2, maxThreads());
  try {
    const { model, inputs } = selfTestModel(new Prng(seed));
    const compiled = compile(model, { shapes: {} });
    const expected = executeReference(compiled, inputs);
    let hasBlocks = false;
    for (const options of [{ threads: 1 }, { threads, minSplit: 0, evenly: true, minEngineWork: 0 }]) {
      const executor = await create(compiled, { ...options, checksAll: true });
      hasBlocks ||= executor.runBlock !== undefined;
      const trees = new Map<number, MerkleList>();
      const { tensors } = await executor.run(inputs, { trees }).finally(() => executor.close());
      compare(compiled, expected, tensors, trees);
    }
    if (hasBlocks) await testBlocks(compiled, inputs, create);
  } catch (cause) {
    const [reason] = (cause as Error).message.split("\n");
    throw new CannotRunHereError(`${HEAD}: ${reason}; nothing can be executed here (seed ${seed})`, { cause });
  }
  return { milliseconds: Math.round(performance.now() - began), threads };
}

/** Without `runBlock`, an executor has no blocks to test. */
type Tested = Pick<Executor, "run" | "close"> & Partial<Pick<Executor, "runBlock">>;
type Create = (model: CompiledModel, options: ExecutorOptions) => Promise<Tested>;

/** The lengths of blocks to test: of few items and of more, with kernels of their own. */
const LENGTHS = [4, 8];

/** Executes blocks of two items by turns: each output must match the definition. */
async function testBlocks(compiled: CompiledModel, inputs: readonly Uint8Array[], create: Create): Promise<void> {
  const { program } = compiled;
  const each = program.inputs.map((input) => ({ ...input, source: { kind: "each" } as const }));
  const model = { ...compiled, program: { ...program, inputs: each } };
  const items = [inputs, inputs.map((bytes) => Uint8Array.from([...bytes.subarray(8), ...bytes.subarray(0, 8)]))];
  const expected = items.map((item) => executeReference(compiled, item));
  const executor = await create(model, { threads: 1, blocks: { lengths: LENGTHS, guessed: [] } });
  try {
    for (const length of LENGTHS) {
      const block = Array.from({ length }, (_, k) => items[k % 2]!);
      const { items: found } = await executor.runBlock!(block);
      for (const output of program.outputs) {
        const { step } = program.checkpoints[output]!;
        const isWrong = block.some((_, k) => Buffer.compare(found[k]!.tensors[step]!, expected[k % 2]![step]!) !== 0);
        if (isWrong) throw new Error(`step ${step} has other bits in a block of items; use another machine`);
      }
    }
  } finally {
    await executor.close();
  }
}

/** Throws unless all tensors and roots match the definition. */
function compare(
  { program, origins }: CompiledModel,
  expected: readonly Uint8Array[],
  tensors: readonly Uint8Array[],
  trees: ReadonlyMap<number, MerkleList>,
): void {
  const wrong = expected.findIndex((bytes, step) => Buffer.compare(bytes, tensors[step] ?? new Uint8Array()) !== 0);
  if (wrong >= 0)
    throw new Error(
      `step ${wrong} (${origins[wrong]!.operator}) has other bits than the definition; use another machine`,
    );
  for (const { step } of program.checkpoints)
    if (trees.get(step)?.root !== rootByDefinition(expected[step]!))
      throw new Error(`the hashes of step ${step} are wrong; use another machine`);
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
