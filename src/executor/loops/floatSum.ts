import { ifElse } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import type { FunctionBuilder, Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import { f32, f32x4, f64, f64x2, i32, i32x4, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { promoteHigh } from "./access.ts";
import { LANES, store, type Emitter, type LoopValue } from "./values.ts";

/** A stored result's place, and its number among flagged results. */
export type Destination = {
  address: Code;
  /** Bytes from a result to the next one in the vectorised digit. */
  step: number;
  /** The row-major index of the result. */
  index: Code;
  flagged: Local;
  count: Local;
};

/** Folds terms; `begin` comes before the first one. */
export type Accumulator = { begin: Code; add: (a: LoopValue, b: LoopValue | undefined) => Code };

type Sums = { sums: readonly Local[]; magnitudes: readonly Local[] };

/**
 * Sums in float64 of float32 terms a or a * b, each exact in float64, and the sums of their magnitudes: one term at a
 * time.
 */
export function scalarSum(fn: FunctionBuilder): Accumulator & Sums {
  const [sum, magnitude, term] = [fn.local("f64"), fn.local("f64"), fn.local("f64")];
  const widened = (value: LoopValue): Code => f64.promoteF32(value.code);
  return {
    sums: [sum],
    magnitudes: [magnitude],
    begin: [sum.set(f64.const(0)), magnitude.set(f64.const(0))],
    add: (a, b) => [
      term.set(b === undefined ? widened(a) : f64.mul(widened(a), widened(b))),
      sum.set(f64.add(sum.get, term.get)),
      magnitude.set(f64.add(magnitude.get, f64.abs(term.get))),
    ],
  };
}

/** The same in LANES lanes: two of float64 in each of two vectors. */
export function vectorSum(
  fn: FunctionBuilder,
): Sums & { begin: Code; addTo: (emitter: Emitter) => Accumulator["add"] } {
  const sums = [fn.local("v128"), fn.local("v128")];
  const magnitudes = [fn.local("v128"), fn.local("v128")];
  const term = fn.local("v128");
  const zero = v128.const(new Array<number>(16).fill(0));
  /** Returns an operand's two halves in float64. An operand equal in all lanes gets widened at its own level. */
  const halves = (emitter: Emitter, value: LoopValue): readonly [Code, Code] => {
    if (value.isVector) return [f64x2.promoteLowF32(value.code), promoteHigh(value.code)];
    const wide = store(emitter, "v128", f64x2.splat(f64.promoteF32(value.code)), value.level).get;
    return [wide, wide];
  };
  return {
    sums,
    magnitudes,
    begin: [...sums, ...magnitudes].map((local) => local.set(zero)),
    addTo: (emitter) => (a, b) => {
      const [left, right] = [halves(emitter, a), b && halves(emitter, b)];
      return [0, 1].map((n) => [
        term.set(right === undefined ? left[n]! : f64x2.mul(left[n]!, right[n]!)),
        sums[n]!.set(f64x2.add(sums[n]!.get, term.get)),
        magnitudes[n]!.set(f64x2.add(magnitudes[n]!.get, f64x2.abs(term.get))),
      ]);
    },
  };
}

/** Adds the lanes of `from` to `to`. */
export const addLanes = (to: Sums, from: Sums): Code =>
  (["sums", "magnitudes"] as const).map((key) =>
    from[key].flatMap((vector) =>
      [0, 1].map((lane) => to[key][0]!.set(f64.add(to[key][0]!.get, f64x2.extract(vector.get, lane)))),
    ),
  );

const listed = ({ index, flagged, count }: Destination, lane: number): Code => [
  i32.store(flagged.get, i32.add(index, i32.const(lane))),
  flagged.set(i32.add(flagged.get, i32.const(4))),
  count.set(i32.add(count.get, i32.const(1))),
];

/**
 * Stores a sum rounded to float32 if the error bound `factor * magnitude` settles the rounding, see
 * src/numerics/kernels/certify.ts. Other sums are listed.
 */
export function settleScalar(fn: FunctionBuilder, { sums, magnitudes }: Sums, factor: number, to: Destination): Code {
  const [sum, error] = [sums[0]!, magnitudes[0]!];
  const low = fn.local("f32");
  return [
    error.set(f64.mul(error.get, f64.const(factor))),
    low.set(f32.demoteF64(f64.sub(sum.get, error.get))),
    f32.store(to.address, f32.add(low.get, f32.const(0))),
    ifElse(f32.ne(low.get, f32.demoteF64(f64.add(sum.get, error.get))), listed(to, 0)),
  ];
}

/** The first two float32 of two vectors. */
const LOW_HALVES = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/** Settles LANES sums, consecutive in the vectorised digit, in the same way. */
export function settleVector(fn: FunctionBuilder, { sums, magnitudes }: Sums, factor: number, to: Destination): Code {
  const [low, bits] = [fn.local("v128"), fn.local("i32")];
  const ends = (operation: typeof f64x2.add): Code => {
    const [first, second] = [0, 1].map((n) => f32x4.demoteZeroF64(operation(sums[n]!.get, magnitudes[n]!.get))) as [
      Code,
      Code,
    ];
    return v128.shuffle(first, second, LOW_HALVES);
  };
  const lanes = Array.from({ length: LANES }, (_, lane) => lane);
  return [
    magnitudes.map((error) => error.set(f64x2.mul(error.get, f64x2.splat(f64.const(factor))))),
    low.set(f32x4.add(ends(f64x2.sub), v128.const(new Array<number>(16).fill(0)))),
    to.step === 4
      ? v128.store(to.address, low.get)
      : lanes.map((lane) => f32.store(i32.add(to.address, i32.const(lane * to.step)), f32x4.extract(low.get, lane))),
    bits.set(i32x4.bitmask(f32x4.ne(low.get, ends(f64x2.add)))),
    ifElse(
      bits.get,
      lanes.map((lane) => ifElse(i32.and(bits.get, i32.const(1 << lane)), listed(to, lane))),
    ),
  ];
}
