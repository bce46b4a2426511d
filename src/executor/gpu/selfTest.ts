import { freshSeed, Prng } from "../../base/prng.ts";
import { CannotRunHereError } from "../../base/platform.ts";
import { DType, writeWord } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { toHash, zeroHash } from "../../program/merkle/hash.ts";
import { isElementary, Op, signature } from "../../program/operations.ts";
import { Reduce, type Axis, type Step } from "../../program/types.ts";
import { executeReference } from "../reference.ts";
import { selfTestExecutor } from "../selfTest.ts";
import type { Gpu } from "./device.ts";
import { createGpuExecutor, kindsOf } from "./executor.ts";

/** Operands for each function, and the exponents of float32 for half of the operands: 2^-14 to 2^8. */
const OPERANDS = 64;
const [LOW, HIGH] = [113, 135];

/**
 * Products with few terms and few moduli: many sums lie near a midpoint between two numbers, and the certificate has
 * little room. Smaller bounds give wrong bits.
 */
const [ROWS, TERMS, MODULI] = [24, 3, { bytes: 7, floats: 5 }] as const;
const SMALL = { terms: 1, rows: 1, columns: 1 };

/**
 * Tests a GPU before jobs: a small model with products, sums, casts and hashes ({@link selfTestExecutor}), products
 * with many open sums by each kind of kernel, every elementary function of float32 on random operands, and reductions
 * shared by lanes, against the definition.
 * @param functions The functions to test; by default all.
 * @throws CannotRunHereError that names the GPU, what differs and the seed
 */
export async function selfTestGpu(
  gpu: Gpu,
  seed = freshSeed(),
  functions: readonly Op[] = Object.values(Op).filter(isElementary),
): Promise<void> {
  await selfTestExecutor((model) => createGpuExecutor(model, gpu, { seed }), seed);
  const prng = new Prng(seed);
  await testProducts(gpu, prng, seed);
  const steps = functions.map((op) => functionStep(op, OPERANDS));
  const inputs = functions.flatMap((op) => Array.from({ length: signature(op)!.arity }, () => operands(prng)));
  const model = separateModel(steps);
  const executor = await createGpuExecutor(model, gpu, { seed });
  const { tensors } = await executor.run(inputs).finally(() => executor.close());
  const expected = executeReference(model, inputs);
  const wrong = expected.findIndex((tensor, s) => Buffer.compare(tensor, tensors[s]!) !== 0);
  if (wrong >= 0)
    throw new CannotRunHereError(
      `${gpu.facts.name}: the function ${signature(functions[wrong]!)!.name} has other bits than the definition ` +
        `(seed ${seed}); compute on the CPU, or with another driver of the GPU`,
    );
  await testShared(gpu, prng, seed);
}

/** @throws CannotRunHereError */
async function testProducts(gpu: Gpu, prng: Prng, seed: number): Promise<void> {
  const model = separateModel([productStep(ROWS, TERMS, ROWS)]);
  const inputs = [0, 1].map(() => {
    const bytes = new Uint8Array(4 * ROWS * TERMS);
    // Between 1 and 2 in magnitude.
    for (let k = 0; k < ROWS * TERMS; k++)
      writeWord(bytes, k, DType.float32, (prng.bits(32) & 0x807fffffn) | 0x3f800000n);
    return bytes;
  });
  const [expected] = executeReference(model, inputs);
  for (const kind of kindsOf(gpu)) {
    const products = { kind, moduli: MODULI[kind], least: SMALL };
    const executor = await createGpuExecutor(model, gpu, { seed, products });
    const { tensors } = await executor.run(inputs).finally(() => executor.close());
    if (Buffer.compare(expected!, tensors[0]!) !== 0)
      throw new CannotRunHereError(
        `${gpu.facts.name}: a product by ${kind} has other bits than the definition (seed ${seed}); compute on the ` +
          "CPU, or with another driver of the GPU",
      );
  }
}

/** A sum's terms: a few lanes share so many, or all lanes of a workgroup; some lanes have one more than others. */
const [LONG, LONGEST] = [300, 1_100];

/** The results of the longest sums: an invocation writes several in a word. */
const NARROW = [DType.float16, DType.int8] as const;

/** @throws CannotRunHereError if lanes that share a reduction give other bits */
async function testShared(gpu: Gpu, prng: Prng, seed: number): Promise<void> {
  const sums = productStep(1, LONG, 3);
  const place: Step = {
    ...{ ...sums, dtype: DType.int64, count: 3, outDigits: [3], reduce: Reduce.argmax },
    inputs: [{ kind: "input", index: 0, dtype: DType.float32, count: 3 * LONG }],
    termReads: [{ input: 0, fill: 0n, axes: [axis(0, 3, LONG), axis(1, LONG, 1)] }],
    term: { code: [], outA: 0, outB: 0 },
  };
  const narrow = NARROW.map((dtype): Step => {
    const sums = productStep(1, LONGEST, 5);
    const code = [{ op: Op.cast, dtype: DType.float32, a: 0, b: dtype, c: 0 }];
    return { ...sums, dtype, epilogue: { code, out: 1 } };
  });
  const model = separateModel([sums, place, ...narrow]);
  const inputs = model.program.inputs.map(({ count }) => {
    const bytes = new Uint8Array(4 * count);
    // Between 1 and 16 in magnitude.
    for (let k = 0; k < count; k++) writeWord(bytes, k, DType.float32, (prng.bits(32) & 0x81ffffffn) | 0x3f800000n);
    return bytes;
  });
  const expected = executeReference(model, inputs);
  const executor = await createGpuExecutor(model, gpu, { seed });
  const { tensors } = await executor.run(inputs).finally(() => executor.close());
  if (expected.some((tensor, s) => Buffer.compare(tensor, tensors[s]!) !== 0))
    throw new CannotRunHereError(
      `${gpu.facts.name}: a reduction shared by lanes has other bits than the definition (seed ${seed}); compute on ` +
        "the CPU, or with another driver of the GPU",
    );
}

function operands(prng: Prng): Uint8Array {
  const bytes = new Uint8Array(4 * OPERANDS);
  for (let k = 0; k < OPERANDS; k++) {
    const near = BigInt(LOW + prng.below(HIGH - LOW)) << 23n;
    const any = prng.bits(32);
    writeWord(bytes, k, DType.float32, k % 2 === 0 ? any : (any & 0x807fffffn) | near);
  }
  return bytes;
}

/** The step for applying a float32 function to each element of the inputs. */
export function functionStep(op: Op, count: number): Step {
  const { arity } = signature(op)!;
  const axes = [{ extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }];
  const slots = Array.from({ length: arity }, (_, input) => input);
  return {
    ...{ dtype: DType.float32, count, outDigits: [count], redDigits: [], reduce: Reduce.none },
    inputs: slots.map((index) => ({ kind: "input", index, dtype: DType.float32, count })),
    ...{ constants: [], termReads: [], term: { code: [], outA: 0, outB: 0 } },
    epilogueReads: slots.map((input) => ({ input, fill: 0n, axes })),
    epilogue: { code: [{ op, dtype: DType.float32, a: 0, b: arity - 1, c: 0 }], out: arity },
  };
}

const axis = (digit: number, extent: number, stride: number): Axis => ({
  ...{ extent, stride, base: 0, div: 1 },
  coeffs: [{ digit, coeff: 1 }],
});

/** Returns the float32 matrix product, `[rows, inner]` times `[columns, inner]`, in one step. */
export function productStep(rows: number, inner: number, columns: number): Step {
  const dtype = DType.float32;
  return {
    ...{ dtype, count: rows * columns, outDigits: [rows, columns], redDigits: [inner], reduce: Reduce.dot },
    inputs: [rows, columns].map((count, index) => ({ kind: "input", index, dtype, count: count * inner })),
    ...{ reduceType: dtype, constants: [], epilogueReads: [] },
    termReads: [
      { input: 0, fill: 0n, axes: [axis(0, rows, inner), axis(2, inner, 1)] },
      { input: 1, fill: 0n, axes: [axis(1, columns, inner), axis(2, inner, 1)] },
    ],
    term: { code: [], outA: 0, outB: 1 },
    epilogue: { code: [], out: 0 },
  };
}

/** A model whose steps share no inputs and read only inputs. */
export function separateModel(steps: readonly Step[]): CompiledModel {
  let next = 0;
  const moved = steps.map((step) => ({ ...step, inputs: step.inputs.map((ref) => ({ ...ref, index: next++ })) }));
  const inputs = moved.flatMap((step) => step.inputs.map(({ dtype, count }) => ({ dtype, count })));
  return {
    program: { inputs, steps: moved, checkpoints: [], outputs: [], maxStepGas: 0, maxStepBytes: 0 },
    ...{ programRoot: toHash(zeroHash(0)), constants: new Map(), inputs: [], outputs: [] },
    origins: moved.map(() => ({ node: "", operator: "self test" })),
  };
}
