import { kernelMemory, PAGE_BYTES } from "../../numerics/kernels/memory.ts";
import { productKernels, type ProductKernels } from "../../numerics/kernels/productKernels.ts";
import { freshSeed, Prng } from "../../base/prng.ts";
import type { ByteEngine, MatMulEngine, MatrixShape } from "../engine/matMulEngine.ts";
import { selfTest } from "../engine/selfTest.ts";
import { EngineFaultError, EngineUnfitError } from "../errors.ts";
import { Views } from "../memory/views.ts";
import { byteCheck, makeWitness, witnessLength } from "./byteCheck.ts";
import { floatCheck } from "./floatCheck.ts";
import { randomBytes, randomNumbers } from "./randomNumbers.ts";

/** The number of float products, and likewise of byte products. Each product runs twice. */
const PRODUCTS = 4;
/** Kernels treat few rows, and the last rows, columns and terms separately. */
const ROWS = [1, 2, 3, 4, 5, 6, 7, 8, 13, 24, 33];
const COLUMNS = [1, 3, 4, 7, 8, 16, 17, 31, 64, 80];
const TERMS = [1, 2, 3, 5, 8, 16, 31, 64, 129, 257, 520];
const WORD = 8;
/** The bytes for each operand, result and list of norms: the longest operand has 80 x 520 words. */
const PART = 2 ** 16 * WORD;
const PARTS = 6;

/** Memory as executions compute in. Each test has its own: several may run at once. */
type Room = { views: Views; kernels: ProductKernels };

/**
 * Refuses an engine that computes wrongly: in memory as executions use it, products of random shapes and numbers, each
 * prepared once and computed twice, on other numbers and over garbage. Every result is checked as spot checks do.
 * @param seed Of the shapes and numbers; the message of an error names it.
 * @throws EngineFaultError, EngineUnfitError
 */
export async function testEngine(engine: MatMulEngine, seed = freshSeed()): Promise<void> {
  await selfTest(engine);
  const prng = new Prng(seed);
  try {
    const room = newRoom();
    for (let k = 0; k < PRODUCTS; k++) {
      const isByTerms = k % 2 === 1;
      await testFloats(engine, { ...randomShape(prng), isByTerms }, prng, room);
      if (engine.bytes !== undefined) await testBytes(engine.bytes, randomShape(prng), prng, room);
    }
  } catch (cause) {
    if (cause instanceof EngineFaultError) throw new EngineFaultError(`${cause.finding} (seed ${seed})`, { cause });
    const { message } = cause as Error;
    throw new EngineUnfitError(
      `the matrix product engine cannot compute in shared memory: ${message}; use Node 22.21 or newer of the line ` +
        "22, or 24.9 or newer",
      { cause },
    );
  }
}

const randomShape = (prng: Prng): MatrixShape => ({
  rows: prng.pick(ROWS),
  columns: prng.pick(COLUMNS),
  inner: prng.pick(TERMS),
});

async function testFloats(
  engine: MatMulEngine,
  shape: MatrixShape,
  prng: Prng,
  { views, kernels }: Room,
): Promise<void> {
  const { rows, columns, inner } = shape;
  const [left, right, values, rowNorms, columnNorms, gathered] = [0, 1, 2, 3, 4, 5].map((part) => part * PART) as Six;
  const results = views.float64(values, rows * columns);
  const multiply = engine.product(
    views.float64(left, rows * inner),
    views.float64(right, columns * inner),
    results,
    shape,
  );
  const check = floatCheck({ views, kernels }, shape, { left, right, values, rowNorms, columnNorms, gathered });
  for (let round = 0; round < 2; round++) {
    fill(views.float64(left, rows * inner), views.float64(right, columns * inner), inner, prng);
    kernels.norms(left, inner, rows, rowNorms);
    kernels.norms(right, inner, columns, columnNorms);
    if (shape.isByTerms === true) transpose(views.float64(right, columns * inner), columns);
    results.fill(NaN);
    await multiply();
    for (let index = 0; index < results.length; index++) check(index);
  }
}

async function testBytes(engine: ByteEngine, shape: MatrixShape, prng: Prng, { views }: Room): Promise<void> {
  const { rows, columns, inner } = shape;
  const left = views.part(0, rows * inner);
  const leftZero = views.part(PART - 1, 1);
  const rightBytes = views.part(PART, columns * inner);
  const rightZero = views.part(2 * PART - 1, 1);
  const results = views.int32(2 * PART, rows * columns);
  const witness = views.int32(3 * PART, witnessLength(columns, inner));
  const multiply = engine.product(left, rightBytes, { left: leftZero, right: rightZero }, results, shape);
  const isSigned = engine.minRight < 0;
  const signed = new Int8Array(rightBytes.buffer, rightBytes.byteOffset, rightBytes.length);
  const zeroOf = (byte: number): number => (isSigned ? (byte << 24) >> 24 : byte);
  const check = byteCheck({ left, leftZero, results }, shape, witness);
  for (let round = 0; round < 2; round++) {
    for (const bytes of [left, leftZero, rightBytes, rightZero]) bytes.set(randomBytes(bytes.length, prng));
    makeWitness(isSigned ? signed : rightBytes, zeroOf(rightZero[0]!), shape, witness, prng);
    for (let index = 0; index < results.length; index++) results[index] = prng.uint32() | 0;
    await multiply();
    for (let row = 0; row < rows; row++) check(row);
  }
}

function newRoom(): Room {
  const memory = kernelMemory((PARTS * PART) / PAGE_BYTES);
  return { views: new Views(memory), kernels: productKernels(memory) };
}

/** Fills two factors; in every other case, the second half of each dot product cancels most of the first. */
function fill(left: Float64Array, right: Float64Array, inner: number, prng: Prng): void {
  for (const factor of [left, right]) factor.set(randomNumbers(factor.length, prng));
  if (prng.below(2) === 0) return;
  const half = Math.floor(inner / 2);
  for (const [factor, sign] of [
    [left, -1],
    [right, 1],
  ] as const)
    for (let start = 0; start < factor.length; start += inner)
      for (let k = 0; k < half; k++) factor[start + half + k] = sign * factor[start + k]!;
}

/** Puts the rows of a matrix, so many, side by side as columns. */
function transpose(matrix: Float64Array, rows: number): void {
  const before = Float64Array.from(matrix);
  const length = matrix.length / rows;
  for (let k = 0; k < matrix.length; k++) matrix[k] = before[(k % rows) * length + Math.floor(k / rows)]!;
}

type Six = [number, number, number, number, number, number];
