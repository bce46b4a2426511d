import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType, writeWord } from "../../src/numerics/dtype.ts";
import { fromNumber } from "../../src/numerics/float32.ts";
import { Op } from "../../src/program/operations.ts";
import { Reduce, type Axis, type Step, type View } from "../../src/program/types.ts";
import { float32Words } from "../numerics/float32Words.ts";
import type { Prng } from "../random/prng.ts";
import type { RandomModel } from "./randomProgram.ts";
import { modelOfSteps } from "./stepModel.ts";

/**
 * The input's contents: numbers of equal size, many zeros, few bits (sums that are ties), sizes far apart, or NaNs and
 * infinities among subnormals.
 */
export const VALUES = ["ordinary", "sparse", "few bits", "wide", "edges", "zero"] as const;
export type Values = (typeof VALUES)[number];

/** `count` float32 of a kind. */
export function randomFloats(prng: Prng, kind: Values, count: number): Uint8Array {
  const bytes = new Uint8Array(4 * count);
  const edges = float32Words(prng.uint32(), 40);
  const uniform = (): number => prng.uint32() / 2 ** 32 - 0.5;
  const word = (): bigint => {
    if (kind === "edges") return prng.below(8) === 0 ? prng.pick(edges) : fromNumber(Math.fround(uniform()));
    if (kind === "zero") return 0n;
    if (kind === "few bits") return fromNumber((prng.below(9) - 4) * 2 ** -prng.below(13));
    if (kind === "wide") return fromNumber(Math.fround(uniform() * 2 ** (prng.below(120) - 60)));
    if (kind === "sparse" && prng.below(4) !== 0) return 0n;
    return fromNumber(Math.fround(uniform()));
  };
  for (let k = 0; k < count; k++) writeWord(bytes, k, DType.float32, word());
  return bytes;
}

const product = (numbers: readonly number[]): number => numbers.reduce((all, n) => all * n, 1);

function shuffled<T>(prng: Prng, list: readonly T[]): T[] {
  const rest = [...list];
  return list.map(() => rest.splice(prng.below(rest.length), 1)[0]!);
}

/** Digits by name, in an order, and an axis built from some digits. */
type Names = Readonly<Record<string, number>>;
const axisOf = (
  order: readonly string[],
  moves: Names,
  place: { extent: number; stride: number; base: number },
): Axis => ({
  ...place,
  div: 1,
  coeffs: Object.entries(moves)
    .map(([name, coeff]) => ({ digit: order.indexOf(name), coeff }))
    .sort((a, b) => a.digit - b.digit),
});

/**
 * A program of one convolution with constant weights: any groups, channels, window, strides, dilations, padding on each
 * side, with the input's and the output's channels first or last or between, the window mirrored or not, with a bias or
 * not.
 */
export function randomWindow(prng: Prng, kind: Values, limits: { channels: number; columns: number }): RandomModel {
  const size = (bound: number): number => 1 + prng.below(bound);
  const radix: Names = {
    ...{ g: size(4), m: size(limits.columns), y: size(4), x: size(prng.below(2) === 0 ? 40 : 9) },
    ...{ c: size(limits.channels), ky: size(5), kx: size(5) },
  };
  const out = shuffled(prng, ["g", "m", "y", "x"]);
  const order = [...out, ...shuffled(prng, ["c", "ky", "kx"])];
  const line = (name: "y" | "x"): { moves: Names; base: number; extent: number } => {
    const [stride, dilation, before, after] = [size(3), size(2), prng.below(4), prng.below(4)];
    const window = `k${name}`;
    const reach = stride * (radix[name]! - 1) + dilation * (radix[window]! - 1) + 1;
    const mirrored = prng.below(4) === 0;
    const first = mirrored ? dilation * (radix[window]! - 1) : 0;
    return {
      moves: { [name]: stride, [window]: mirrored ? -dilation : dilation },
      base: first - before,
      extent: Math.max(1, reach - before - after),
    };
  };
  const [y, x] = [line("y"), line("x")];
  const extents: Names = { g: radix.g! * radix.c!, y: y.extent, x: x.extent };
  const layout = shuffled(prng, ["g", "y", "x"]);
  const stride = (name: string): number =>
    product(layout.slice(layout.indexOf(name) + 1).map((other) => extents[other]!));
  const count = product(Object.values(extents));
  const channel = { moves: { g: radix.c!, c: 1 }, base: 0, extent: extents.g! };
  // Sometimes, as the compiler does, with the stride in the coefficients.
  const flat = (axis: Axis): Axis =>
    prng.below(2) === 0
      ? axis
      : {
          ...axis,
          ...{ extent: (axis.extent - 1) * axis.stride + 1, stride: 1, base: axis.base * axis.stride },
          coeffs: axis.coeffs.map(({ digit, coeff }) => ({ digit, coeff: coeff * axis.stride })),
        };
  const left: View = {
    input: 0,
    fill: prng.below(5) === 0 ? 0x3f800000n : 0n,
    axes: [
      flat(axisOf(order, channel.moves, { ...channel, stride: stride("g") })),
      axisOf(order, y.moves, { ...y, stride: stride("y") }),
      axisOf(order, x.moves, { ...x, stride: stride("x") }),
    ],
  };
  const weightDigits = ["g", "m", "c", "ky", "kx"];
  const weightCount = product(weightDigits.map((name) => radix[name]!));
  const weightMoves = Object.fromEntries(
    weightDigits.map((name, k) => [name, product(weightDigits.slice(k + 1).map((other) => radix[other]!))]),
  );
  const right: View = {
    input: 1,
    fill: 0n,
    axes: [axisOf(order, weightMoves, { extent: weightCount, stride: 1, base: 0 })],
  };
  const weights = randomFloats(
    prng,
    kind === "edges" && prng.below(2) === 0 ? "edges" : prng.pick(["ordinary", "few bits"]),
    weightCount,
  );
  const bias = randomFloats(prng, "ordinary", radix.m!);
  const hasBias = prng.below(2) === 0;
  const float32 = DType.float32;
  const constants = new Map([weights, bias].map((bytes) => [tensorRoot(bytes), bytes]));
  const step: Step = {
    dtype: float32,
    count: product(out.map((name) => radix[name]!)),
    inputs: [
      { kind: "input", index: 0, dtype: float32, count },
      { kind: "constant", root: tensorRoot(weights), dtype: float32, count: weightCount },
      { kind: "constant", root: tensorRoot(bias), dtype: float32, count: radix.m! },
    ],
    outDigits: out.map((name) => radix[name]!),
    redDigits: order.slice(out.length).map((name) => radix[name]!),
    reduce: Reduce.dot,
    reduceType: float32,
    constants: [],
    ...(prng.below(2) === 0
      ? { termReads: [left, right], term: { code: [], outA: 0, outB: 1 } }
      : { termReads: [right, left], term: { code: [], outA: 0, outB: 1 } }),
    epilogueReads: hasBias
      ? [{ input: 2, fill: 0n, axes: [axisOf(order, { m: 1 }, { extent: radix.m!, stride: 1, base: 0 })] }]
      : [],
    epilogue: hasBias ? { code: [{ op: Op.add, dtype: float32, a: 0, b: 1, c: 0 }], out: 2 } : { code: [], out: 0 },
  };
  const model = modelOfSteps([{ dtype: float32, count }], [step], constants);
  return { model, inputs: [randomFloats(prng, kind, count)] };
}
