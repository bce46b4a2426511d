import {
  canonicalWord,
  DType,
  dtypeBytes,
  isFloat,
  isInteger,
  writeWord,
  type Word,
} from "../../src/numerics/dtype.ts";
import { FLOAT64_LIMBS, limbCount, LIMBS } from "../../src/numerics/exactSum.ts";
import { accumulatorTypes, hasTwoResults, isDot, isPartial, isTotal, termType } from "../../src/program/reduction.ts";
import { Op, OPERATIONS, signature, type OpName } from "../../src/program/operations.ts";
import { LIMITS } from "../../src/program/limits.ts";
import { validateStep } from "../../src/program/validate.ts";
import { Reduce, type Axis, type Constant, type Instruction, type Step, type View } from "../../src/program/types.ts";
import { float32Bits } from "../numerics/float32Words.ts";
import type { Prng } from "../random/prng.ts";
import { floatWord, OTHER_FLOATS } from "../numerics/floatWords.ts";
import { integerWord } from "../numerics/integerWords.ts";

/** A well-formed step with the inputs' bytes. The bytes lean on the edges and are not canonical. */
export type RandomStep = { step: Step; tensors: Uint8Array[] };

const READ_TYPES: readonly DType[] = Object.values(DType);
const TYPES = READ_TYPES.filter((dtype) => dtype !== DType.limb);
const FIXED_WIDTH_I32 = [-(2 ** 31), 2 ** 31 - 1];

/** A random well-formed step: any reduction, operation, type, bounds, divisors and index reads. */
export function randomStep(prng: Prng): RandomStep {
  const reduce = prng.pick(Object.values(Reduce));
  const none = reduce === Reduce.none;
  const inputs: { dtype: DType; count: number; indexExtent?: number }[] = [];
  const outDigits = radices(prng, 1 + prng.below(3), 5);
  const long = prng.below(12) === 0;
  const redDigits = none ? [] : long ? radices(prng, 1, 600) : radices(prng, 1 + prng.below(3), 5);
  const reduceType = none ? undefined : pickReduceType(prng, reduce);
  // These digits number the words of exact sums.
  const limbs =
    reduce === Reduce.partialTotal ? prng.pick([LIMBS, FLOAT64_LIMBS]) : limbCount(reduceType ?? DType.float32);
  if (isPartial(reduce) || reduce === Reduce.partialTotal) outDigits.splice(-1, 1, limbs);
  if (isTotal(reduce)) redDigits.splice(-1, 1, limbs * prng.pick([1, 1, 2, 5]));
  const all = [...outDigits, ...redDigits];
  const constants = Array.from({ length: prng.below(4) }, () => randomConstant(prng));
  const termReads = none
    ? []
    : randomReads(prng, inputs, all, 1 + prng.below(3), isTotal(reduce) ? DType.limb : reduceType);
  const epilogueReads = randomReads(prng, inputs, outDigits, none ? 1 + prng.below(3) : prng.below(3));
  const readTypes = (views: readonly View[]): DType[] => views.map((view) => inputs[view.input]!.dtype);
  const constantTypes = constants.map((c) => c.dtype);

  const term = { code: [] as Instruction[], outA: 0, outB: 0 };
  if (reduceType !== undefined) {
    const slots = [...readTypes(termReads), ...constantTypes];
    // Half of the products are bare, because the verifier has a separate loop for bare products.
    const bare = isDot(reduce) && prng.below(2) === 0;
    if (!bare) randomCode(prng, term.code, slots, prng.below(4), all.length);
    const dtype = termType({ reduce, reduceType });
    term.outA = slotOf(prng, term.code, slots, reduce === Reduce.last ? DType.bool : dtype);
    if (hasTwoResults(reduce)) term.outB = slotOf(prng, term.code, slots, dtype);
  }
  const slots = [
    ...readTypes(epilogueReads),
    ...accumulatorTypes({ reduce, ...(reduceType === undefined ? {} : { reduceType }) }),
    ...constantTypes,
  ];
  const epilogue = { code: [] as Instruction[], out: 0 };
  randomCode(prng, epilogue.code, slots, prng.below(7), outDigits.length);
  epilogue.out = epilogue.code.length > 0 ? slots.length - 1 : prng.below(slots.length);

  const tensors = inputs.map(({ dtype, count, indexExtent }) => randomTensor(prng, dtype, count, indexExtent));
  const step: Step = {
    dtype: slots[epilogue.out]!,
    count: outDigits.reduce((product, radix) => product * radix, 1),
    inputs: inputs.map(({ dtype, count }, index) => ({ kind: "input", index, dtype, count })),
    outDigits,
    redDigits,
    reduce,
    ...(reduceType === undefined ? {} : { reduceType }),
    constants,
    termReads,
    epilogueReads,
    term,
    epilogue,
  };
  validateStep(step);
  return { step, tensors };
}

const radices = (prng: Prng, digits: number, bound: number): number[] =>
  Array.from({ length: digits }, () => 1 + prng.below(bound));

function pickReduceType(prng: Prng, reduce: Reduce): DType {
  if (reduce === Reduce.last) return prng.pick(TYPES);
  if (reduce === Reduce.partialTotal) return DType.limb;
  if (isPartial(reduce) || reduce === Reduce.total) return prng.pick([DType.float32, ...OTHER_FLOATS]);
  if (prng.below(2) === 0) return DType.float32;
  return prng.pick(TYPES.filter((dtype) => dtype !== DType.bool));
}

function randomWord(prng: Prng, dtype: DType): Word {
  if (isFloat(dtype)) return canonicalWord(floatWord(prng, dtype), dtype);
  if (dtype === DType.bool) return BigInt(prng.below(2));
  if (dtype === DType.limb) return BigInt(prng.pick([0, 1, float32Bits(prng)]));
  const word = integerWord(prng, dtype);
  return word < 1n << 63n ? word : word >> 1n;
}

function randomConstant(prng: Prng): Constant {
  const dtype = prng.pick(TYPES);
  return { dtype, value: randomWord(prng, dtype) };
}

type InputList = { dtype: DType; count: number; indexExtent?: number }[];

function randomReads(
  prng: Prng,
  inputs: InputList,
  digits: readonly number[],
  length: number,
  favourite?: DType,
): View[] {
  const views: View[] = [];
  for (let n = 0; n < length; n++) {
    const indexReads = views.flatMap((view, k) =>
      isInteger(inputs[view.input]!.dtype) && view.axes.every((axis) => axis.indirect === undefined) ? [k] : [],
    );
    const axes = Array.from({ length: prng.below(4) }, () => randomAxis(prng, digits));
    if (axes.length > 0 && indexReads.length > 0 && prng.below(2) === 0) {
      const axis = prng.pick(axes);
      axis.indirect = prng.pick(indexReads);
      inputs[views[axis.indirect]!.input]!.indexExtent = axis.extent;
    }
    strides(prng, axes);
    const last = axes.reduce((sum, { extent, stride }) => sum + (extent - 1) * stride, 0);
    const fitting = inputs.flatMap(({ count }, k) => (last < count ? [k] : []));
    let input = fitting.length > 0 && prng.below(3) === 0 ? prng.pick(fitting) : inputs.length;
    if (input === inputs.length) {
      if (inputs.length === LIMITS.inputs) break;
      // No cast produces a limb. Therefore the first read has limb type when limbs are wanted.
      const forced = favourite === DType.limb && n === 0;
      const wanted = favourite !== undefined && prng.below(2) === 0;
      const dtype = forced || wanted ? favourite : prng.pick(READ_TYPES);
      input = inputs.push({ dtype, count: last + 1 + prng.below(3) }) - 1;
    }
    views.push({ input, fill: randomWord(prng, inputs[input]!.dtype), axes });
  }
  return views;
}

type MutableAxis = { -readonly [K in keyof Axis]: Axis[K] };

function randomAxis(prng: Prng, digits: readonly number[]): MutableAxis {
  const coeffs: { digit: number; coeff: number }[] = [];
  let reach = 0;
  digits.forEach((radix, digit) => {
    if (prng.below(2) === 0) return;
    const coeff = prng.below(40) === 0 ? prng.pick(FIXED_WIDTH_I32) : prng.pick([1, 1, 1, 2, 3, -1, -2, 0]);
    coeffs.push({ digit, coeff });
    reach += Math.abs(coeff) * (radix - 1);
  });
  reach = Math.min(reach, 200);
  const extent = Math.max(1, reach + 1 - prng.below(4));
  const base = prng.below(40) === 0 ? prng.pick(FIXED_WIDTH_I32) : prng.pick([0, 0, 0, -1, -2, 1, reach]);
  const div = prng.below(6) === 0 ? prng.pick([2, 3, 2 ** 32 - 1]) : 1;
  return { extent, stride: 1, base, div, coeffs };
}

/** Row-major strides, sometimes spread over many chunks, sometimes zero (a broadcast) or overlapping. */
function strides(prng: Prng, axes: MutableAxis[]): void {
  let stride = prng.below(6) === 0 ? 1 + prng.below(150) : 1;
  for (const axis of [...axes].reverse()) {
    axis.stride = prng.below(8) === 0 ? prng.below(5) : stride;
    if (stride * axis.extent < 4000) stride *= axis.extent;
  }
}

/** Returns a tensor's bytes. The bytes lean on the edges and are not canonical. */
export function randomTensor(prng: Prng, dtype: DType, count: number, indexExtent?: number): Uint8Array {
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  for (let k = 0; k < count; k++) {
    // Raw bits: -0, NaNs with payloads and bool bytes above 1 among them.
    let word = isFloat(dtype) ? floatWord(prng, dtype) : BigInt(prng.pick([0, 1, 2, 255]));
    if (isInteger(dtype)) word = integerWord(prng, dtype);
    if (dtype === DType.limb) word = limbWord(prng, k % LIMBS === LIMBS - 1);
    if (indexExtent !== undefined && prng.below(4) !== 0)
      word = BigInt(prng.below(2 * indexExtent + 2) - indexExtent - 1);
    writeWord(bytes, k, dtype, word);
  }
  return bytes;
}

/** Any 256 bits, leaning on the edges; flags are mostly none. */
function limbWord(prng: Prng, flags: boolean): Word {
  if (prng.below(flags ? 12 : 3) !== 0) return flags ? 0n : prng.pick([0n, 1n, (1n << 256n) - 1n, 1n << 255n]);
  let word = 0n;
  for (let lane = 0; lane < 8; lane++) word = (word << 32n) | BigInt(float32Bits(prng));
  return word >> BigInt(prng.below(256));
}

/** Appends `length` random instructions whose operands are there. */
function randomCode(prng: Prng, code: Instruction[], slots: DType[], length: number, digits: number): void {
  for (let n = 0; n < length; n++) {
    const instruction = randomInstruction(prng, prng.pick(OPERATIONS), slots, digits);
    if (instruction === undefined) continue;
    code.push(instruction);
    slots.push(resultType(instruction));
  }
}

function resultType({ op, dtype, b }: Instruction): DType {
  if (op === Op.cast) return b as DType;
  return signature(op)!.bool ? DType.bool : dtype;
}

function randomInstruction(prng: Prng, name: OpName, slots: readonly DType[], digits: number): Instruction | undefined {
  const op = Op[name];
  if (op === Op.digit) return { op, dtype: DType.int64, a: prng.below(digits), b: 0, c: 0 };
  const { arity, accepts } = signature(op)!;
  const types = slots.filter(accepts);
  if (types.length === 0) return undefined;
  const dtype = prng.pick(types);
  const operand = (wanted: DType): number | undefined => {
    const candidates = slots.flatMap((type, k) => (type === wanted ? [k] : []));
    return candidates.length === 0 ? undefined : prng.pick(candidates);
  };
  if (op === Op.cast) return { op, dtype, a: operand(dtype)!, b: prng.pick(TYPES), c: 0 };
  const a = operand(op === Op.select ? DType.bool : dtype);
  if (a === undefined) return undefined;
  return { op, dtype, a, b: arity >= 2 ? operand(dtype)! : 0, c: arity === 3 ? operand(dtype)! : 0 };
}

/** A slot of a type: one that is there, or a cast appended. */
function slotOf(prng: Prng, code: Instruction[], slots: DType[], dtype: DType): number {
  const candidates = slots.flatMap((type, k) => (type === dtype ? [k] : []));
  if (candidates.length > 0) return prng.pick(candidates);
  const castable = slots.flatMap((type, k) => (type === DType.limb ? [] : [k]));
  if (castable.length === 0) {
    code.push({ op: Op.digit, dtype: DType.int64, a: 0, b: 0, c: 0 });
    castable.push(slots.push(DType.int64) - 1);
    if (dtype === DType.int64) return castable[0]!;
  }
  const a = prng.pick(castable);
  code.push({ op: Op.cast, dtype: slots[a]!, a, b: dtype, c: 0 });
  return slots.push(dtype) - 1;
}
