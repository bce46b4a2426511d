import { DType, isFloat, type DType as DTypeCode } from "../src/numerics/dtype.ts";
import { Op } from "../src/program/operations.ts";
import { isDot } from "../src/program/reduction.ts";
import { Reduce, type Axis, type Instruction, type Step, type TensorRef, type View } from "../src/program/types.ts";
import { validateStep } from "../src/program/validate.ts";
import { float32Bits, type Prng } from "./float32Words.ts";
import { randomTensor, type RandomStep } from "./randomStep.ts";

const KINDS = [Reduce.sum, Reduce.dot, Reduce.sum, Reduce.dot, Reduce.max, Reduce.min];
/** Prime lengths have no blocks of one size. */
const LENGTHS = [[1021], [1200], [7, 211], [24, 50], [3, 3, 128], [1, 1499], [2, 601]];

/** A step of a few elements over some thousand terms, so long that splitting it pays; and the bytes of its inputs. */
export function longReduction(prng: Prng): RandomStep {
  const reduce = prng.pick(KINDS);
  const dtype = prng.below(3) === 0 ? prng.pick([DType.int8, DType.int32, DType.int64, DType.uint64]) : DType.float32;
  const redDigits = prng.pick(dtype === DType.uint64 ? LENGTHS.filter(([, ...more]) => more.length > 1) : LENGTHS);
  const outDigits = [1 + prng.below(3), 1 + prng.below(2)];
  const radices = [...outDigits, ...redDigits];
  const reads = isDot(reduce) ? 2 : 1;
  const views = Array.from({ length: reads }, (_, input) => view(prng, input, radices, outDigits.length));
  const inputs = views.map(({ axes }, index): TensorRef => {
    const count = axes.reduce((last, { extent, stride }) => last + (extent - 1) * stride, 1);
    return { kind: "input", index, dtype, count };
  });
  const code: Instruction[] = [];
  // A term that depends on where it stands, or is not what was read: blocks cannot be bare.
  if (prng.below(3) === 0) {
    code.push({ op: Op.digit, dtype: DType.int64, a: outDigits.length + prng.below(redDigits.length), b: 0, c: 0 });
    code.push({ op: Op.cast, dtype: DType.int64, a: reads, b: dtype, c: 0 });
    code.push({ op: prng.pick([Op.add, Op.mul, Op.max]), dtype, a: 0, b: reads + 1, c: 0 });
  }
  const step: Step = {
    dtype,
    count: outDigits[0]! * outDigits[1]!,
    inputs,
    outDigits,
    redDigits,
    reduce,
    reduceType: dtype,
    constants: [],
    termReads: views,
    epilogueReads: [{ ...views[0]!, axes: [] }],
    term: { code, outA: code.length > 0 ? reads + 2 : 0, outB: reads - 1 },
    epilogue: { code: [{ op: Op.add, dtype, a: 0, b: 1, c: 0 }], out: 2 },
  };
  validateStep(step);
  return { step, tensors: inputs.map(({ count }) => tensor(prng, dtype, count)) };
}

/** One axis a digit, terms far apart, sometimes in part out of bounds. */
function view(prng: Prng, input: number, radices: readonly number[], outDigits: number): View {
  let stride = 8;
  const axes = radices.map((radix, digit): Axis => {
    const outside = digit >= outDigits && radix > 2 && prng.below(4) === 0 ? 1 : 0;
    const axis = { extent: radix - outside, stride, base: 0, div: 1, coeffs: [{ digit, coeff: 1 }] };
    stride *= axis.extent;
    return axis;
  });
  return { input, fill: prng.below(4) === 0 ? 1n : 0n, axes };
}

/** Words of all magnitudes; in every other tensor neither NaN nor infinities, and neighbours that cancel. */
function tensor(prng: Prng, dtype: DTypeCode, count: number): Uint8Array {
  if (!isFloat(dtype)) return randomTensor(prng, dtype, count);
  const finite = prng.below(4) !== 0;
  const words = Uint32Array.from({ length: count }, () => float32Bits(prng));
  words.forEach((word, k) => {
    if (!finite && prng.below(50) === 0) return;
    const exponent = (word >>> 23) & 0xff;
    if (exponent === 0xff) words[k] = (word & 0x807fffff) | 0x3f800000;
    if (k % 16 === 8 && prng.below(3) !== 0) words[k] = words[k - 8]! ^ 0x80000000;
  });
  return new Uint8Array(words.buffer);
}
