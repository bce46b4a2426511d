/** Fourier transforms as exact products with constant twiddle factors, and the mel filter bank. */
import { DType, dtypeBytes, dtypeName, isDType, isFloat, writeWord, type Word } from "../../numerics/dtype.ts";
import { melBin } from "../../numerics/elementary/mel.ts";
import { cosTurn, sinTurn } from "../../numerics/elementary/turn.ts";
import { Reduce } from "../../program/types.ts";
import { addAffine, digitAffine, scaleAffine } from "../expressions/affine.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import { REDUCTION_DIGIT } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { floatValue, numberWord } from "../../numerics/numbers.ts";
import { contract, labelSizes } from "./contract.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { sliced, wholeRange } from "../lowering/slices.ts";

/** The maximum size of a table of factors: it is a constant of the program. */
const MAX_FACTORS = 2 ** 23;

/**
 * Returns the factors [frequencies, 2, samples, parts] for a transform with `length`: the amount added by the real or
 * imaginary part of a sample to the real and imaginary part of a frequency. The factors are cos and sin of 2 pi
 * (frequency * sample) / length in float32.
 */
function factors(
  context: NodeContext,
  length: number,
  frequencies: number,
  samples: number,
  parts: number,
  inverse: boolean,
): LazyTensor {
  const count = frequencies * 2 * samples * parts;
  if (count > MAX_FACTORS)
    return context.refuse("dft_length", `needs ${count} factors, at most ${MAX_FACTORS} are stored`);
  const negated = (word: Word): Word => (word === 0n ? 0n : word ^ 0x80000000n);
  const [cosines, sines] = [cosTurn, sinTurn].map((of) => context.tabulate(length, (m) => of(m, length)));
  const bytes = new Uint8Array(4 * count);
  let at = 0;
  for (let k = 0; k < frequencies; k++)
    for (const q of [0, 1])
      for (let j = 0; j < samples; j++)
        for (let p = 0; p < parts; p++) {
          const m = (k * j) % length;
          const sine = inverse === (q === 1) ? sines![m]! : negated(sines![m]!);
          writeWord(bytes, at++, DType.float32, p === q ? cosines![m]! : sine);
        }
  return context.builder.constant({ dtype: DType.float32, shape: [frequencies, 2, samples, parts], bytes });
}

/**
 * DFT along an axis of data; the last dimension holds one part (real) or two (complex); the inverse is divided by the
 * transform's length.
 */
export const dft: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const rank = x.shape.length;
  const parts = x.shape.at(-1)!;
  const [inverse, onesided] = [context.int("inverse", 0) !== 0, context.int("onesided", 0) !== 0];
  const given = context.opset < 20 ? context.int("axis", 1) : (context.constantInts(2, "axis")?.[0] ?? -2);
  const axis = context.axis(given, rank);
  if (rank < 2 || axis === rank - 1 || parts > 2) return context.fail(`axis ${given} of [${x.shape.join()}]`);
  if (inverse && onesided) return [realInverse(context, x, axis)];
  const length = context.constantInts(1, "dft_length")?.[0] ?? x.shape[axis]!;
  if (length < 1) return context.fail(`a transform of ${length} samples`);
  // Samples beyond the length are left out, missing samples are 0.
  const samples = Math.min(length, x.shape[axis]!);
  const frequencies = onesided ? Math.floor(length / 2) + 1 : length;
  const used = sliced(
    context,
    x,
    x.shape.map((dim, d) => wholeRange(d === axis ? samples : dim)),
  );
  builder.plain(used);
  const labels = x.shape.map((_, d) => (d === axis ? "sample" : d === rank - 1 ? "part" : `d${d}`));
  const operands = [
    { tensor: used, labels },
    {
      tensor: factors(context, length, frequencies, samples, parts, inverse),
      labels: ["frequency", "to", "sample", "part"],
    },
  ] as const;
  const sizes = labelSizes(operands) ?? context.fail("its factors do not fit");
  const output = labels.map((label) => (label === "sample" ? "frequency" : label === "part" ? "to" : label));
  const sum = contract(builder, operands, output, sizes);
  return [inverse ? broadcast(context, [sum], (v) => e.div(v, e.float(length))) : sum];
};

/**
 * Returns the real signal for a spectrum given only as the half from frequency 0 on: the other frequencies are
 * conjugates. Sample j is therefore the exact sum of m * (re * cos - im * sin), m = 1 at frequency 0 and at half of an
 * even length, else 2, rounded once and divided by the length.
 */
function realInverse(context: NodeContext, x: LazyTensor, axis: number): LazyTensor {
  const { builder, expressions: e } = context;
  const given = x.shape[axis]!;
  const length = context.constantInts(1, "dft_length")?.[0] ?? 2 * (given - 1);
  if (length < 1 || x.shape.at(-1) !== 2) return context.fail(`a real inverse of [${x.shape.join()}] to ${length}`);
  const used = Math.min(given, Math.floor(length / 2) + 1);
  const count = used * 2 * length;
  if (count > MAX_FACTORS)
    return context.refuse("dft_length", `needs ${count} factors, at most ${MAX_FACTORS} are stored`);
  const [cosines, sines] = [cosTurn, sinTurn].map((of) => context.tabulate(length, (m) => floatValue(of(m, length))));
  const table = new Float32Array(count);
  for (let k = 0, at = 0; k < used; k++) {
    const times = k === 0 || 2 * k === length ? 1 : 2;
    for (let j = 0; j < length; j++, at += 2) {
      const m = (k * j) % length;
      table[at] = times * cosines![m]!;
      table[at + 1] = -times * sines![m]!;
    }
  }
  const half = sliced(
    context,
    x,
    x.shape.map((dim, d) => wholeRange(d === axis ? used : dim)),
  );
  builder.plain(half);
  const rank = x.shape.length;
  const labels = x.shape.map((_, d) => (d === axis ? "frequency" : d === rank - 1 ? "part" : `d${d}`));
  const factor = builder.constant(floatTensor([...table], [used, length, 2]));
  const operands = [
    { tensor: half, labels },
    { tensor: factor, labels: ["frequency", "sample", "part"] },
  ] as const;
  const sizes = labelSizes(operands) ?? context.fail("its factors do not fit");
  const output = labels.slice(0, -1).map((label) => (label === "frequency" ? "sample" : label));
  const sum = contract(builder, operands, output, sizes);
  const scaled = broadcast(context, [sum], (v) => e.div(v, e.float(length)));
  return builder.reshape(scaled, [...scaled.shape, 1]);
}

/** STFT: transforms a signal's frames, each sample times the window. */
export const stft: Lower = (context) => {
  const { builder, expressions: e } = context;
  const given = context.floatInput();
  const signal = given.shape.length === 2 ? builder.reshape(given, [...given.shape, 1]) : given;
  const [batch = 0, length = 0, parts = 0] = signal.shape;
  const step = context.constantInts(1, "frame_step")?.[0] ?? 0;
  const window = context.optional(2) && context.floatInput(2);
  const size = context.constantInts(3, "frame_length")?.[0] ?? window?.shape[0] ?? 0;
  if (signal.shape.length !== 3 || parts > 2 || step < 1 || size < 1 || size > length)
    return context.fail(`frames of ${size} every ${step} samples of [${signal.shape.join()}]`);
  if (window !== undefined && window.shape.join() !== String(size))
    return context.fail(`a window of shape [${window.shape.join()}] for frames of ${size}`);
  const onesided = context.int("onesided", 1) !== 0;
  const frequencies = onesided ? Math.floor(size / 2) + 1 : size;
  const table = factors(context, size, frequencies, size, parts, false);
  const shape = [batch, Math.floor((length - size) / step) + 1, frequencies, 2];
  const digits = plainDigits(shape);
  const radices = [size, parts];
  const radix = radixOf(digits, radices);
  const [b, frame, frequency, to] = dimensionIndices(digits);
  const [sample, part] = [digitAffine(REDUCTION_DIGIT), digitAffine(REDUCTION_DIGIT + 1)];
  const position = addAffine(scaleAffine(frame!, step), sample);
  const read = readAt(e, builder.plain(signal), [b!, position, part], radix);
  const weighed = window === undefined ? read : e.mul(read, readAt(e, builder.plain(window), [sample], radix));
  const factor = readAt(e, builder.plain(table), [frequency!, to!, sample, part], radix);
  const expr = e.accumulator(Reduce.dot, signal.dtype, signal.dtype, radices, weighed, factor);
  return [{ dtype: signal.dtype, shape, digits, expr, order: identityOrder(4) }];
};

/** MelWeightMatrix: triangles over the frequencies of a transform, their corners equally far apart on the mel scale. */
export const melWeightMatrix: Lower = (context) => {
  const known = (index: number, what: string): number => context.constantInts(index, what)?.[0] ?? 0;
  const [bins, length, rate] = [known(0, "num_mel_bins"), known(1, "dft_length"), known(2, "sample_rate")];
  const [low, high] = [3, 4].map((index) => context.constantWord(context.floatInput(index), `input ${index}`));
  const frequency = context.input(3).dtype;
  if (frequency !== DType.float32) return context.refuse("input 3", `is ${dtypeName(frequency)}, expected float32`);
  const dtype = context.int("output_datatype", DType.float32);
  if (!isDType(dtype)) return context.refuse("output_datatype", `is element type ${dtype}`);
  const rows = Math.floor(length / 2) + 1;
  const fits = bins >= 1 && length >= 1 && rate >= 1 && floatValue(low!) >= 0 && floatValue(high!) >= floatValue(low!);
  if (!fits || !(floatValue(high!) < 2 ** 32)) return context.fail(`${bins} bins from ${length} samples at ${rate} Hz`);
  context.builder.budget.computeElements(rows * bins);
  const corners = context.tabulate(bins + 2, (i) => melBin(low!, high!, i, bins + 2, length + 1, rate));
  if (corners.at(-1)! > rows) return context.fail(`the highest frequency lies beyond ${rows} frequencies`);
  const values = new Array<number>(rows * bins).fill(0);
  for (let i = 0; i < bins; i++) {
    const [from, centre, to] = corners.slice(i, i + 3) as [number, number, number];
    if (centre >= rows) return context.fail(`the highest frequency lies beyond ${rows} frequencies`);
    if (centre === from) values[centre * bins + i] = 1;
    else for (let j = from; j <= centre; j++) values[j * bins + i] = (j - from) / (centre - from);
    for (let j = centre; j < to; j++) values[j * bins + i] = (to - j) / (to - centre);
  }
  const bytes = new Uint8Array(values.length * dtypeBytes(dtype));
  const word = (value: number): Word => numberWord(isFloat(dtype) ? value : Math.trunc(value), dtype);
  values.forEach((value, i) => writeWord(bytes, i, dtype, word(value)));
  return [context.builder.constant({ dtype, shape: [rows, bins], bytes })];
};
