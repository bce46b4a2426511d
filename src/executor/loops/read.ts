import { ifElse } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { f32x4, i32, i32x4, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isFloat, isHalf } from "../../numerics/dtype.ts";
import type { View } from "../../program/types.ts";
import { loadScalar, loadVector } from "./access.ts";
import { allHold, emitAddress, type Digits } from "./address.ts";
import { decoded } from "./halfFloat.ts";
import { literal } from "./literal.ts";
import { define, exact, LANES, scalarType, type Emitter, type LoopValue } from "./values.ts";

/** The context in which reads are generated. */
export type ReadScope = {
  emitter: Emitter;
  digits: Digits;
  views: readonly View[];
  /** The sources' addresses, types and memory numbers in the module. */
  sources: readonly { address: Code; dtype: DType; memory: number }[];
};

/** Emits a view's offset, bounds check and load; the result is the element or the fill value. */
export function emitRead(context: ReadScope, view: View): LoopValue {
  const { emitter, sources } = context;
  const own = sources[view.input]!.dtype;
  if (isHalf(own)) return decoded(emitter, emitRead(asBits(context, view), view), own);
  const { address, inside } = emitAddress(...addressOf(context, view));
  const { dtype, memory } = sources[view.input]!;
  const load = loadScalar(dtype, address.code, 0, memory);
  if (inside === undefined) return define(emitter, exact(load, dtype, address.level));
  const code = ifElse(inside.code, load, literal(view.fill, dtype), scalarType(dtype));
  return define(emitter, exact(code, dtype, Math.max(inside.level, address.level)));
}

/** Returns the same scope with an input's 16-bit floats typed as uint16. */
const asBits = (context: ReadScope, { input }: View): ReadScope => ({
  ...context,
  sources: context.sources.map((source, n) => (n === input ? { ...source, dtype: DType.uint16 } : source)),
});

function addressOf(context: ReadScope, view: View): Parameters<typeof emitAddress> {
  const { emitter, digits, views, sources } = context;
  // The view of an index has no index itself.
  return [emitter, digits, view, sources[view.input]!, (read) => emitRead(context, views[read]!)];
}

/** For each axis of a view, the amount by which a digit moves the axis's coordinate. */
const stepOf = (view: View, digit: number): number[] =>
  view.axes.map(({ coeffs }) => coeffs.find((term) => term.digit === digit)?.coeff ?? 0);

/** Whether a read depends on a digit, directly or by an index. */
export const dependsOn = (views: readonly View[], view: View, digit: number): boolean =>
  stepOf(view, digit).some((coeff) => coeff !== 0) ||
  view.axes.some(({ indirect }) => indirect !== undefined && dependsOn(views, views[indirect]!, digit));

/** Emits a read for LANES values of a digit that moves the read. */
export function emitVectorRead(context: ReadScope, view: View, digit: number): LoopValue {
  const { emitter, views, sources } = context;
  const { dtype, memory } = sources[view.input]!;
  if (isHalf(dtype)) return decoded(emitter, emitVectorRead(asBits(context, view), view, digit), dtype);
  const steps = stepOf(view, digit);
  const isAffine = view.axes.every(
    ({ div, indirect }, n) =>
      (steps[n] === 0 || div === 1) && (indirect === undefined || !dependsOn(views, views[indirect]!, digit)),
  );
  const step = view.axes.reduce((sum, { stride }, n) => sum + stride * steps[n]!, 0);
  if (!isAffine) return define(emitter, laneByLane(context, view, digit));

  const { address, inside } = emitAddress(...addressOf(context, view));
  const level = Math.max(address.level, inside?.level ?? 0, context.digits.get(digit)!.level);
  if (step < 0) return define(emitter, laneByLane(context, view, digit));
  const load = step === 1 ? loadVector(dtype, address.code, memory) : loadLanes(dtype, address.code, step, memory);
  if (inside === undefined) return define(emitter, exact(load, dtype, level, true));
  // Affine coordinates are inside for all lanes if they are for the first and the last.
  const last = emitAddress(...addressOf(atLane(context, digit, LANES - 1), view));
  const isInside = allHold(emitter, [inside, last.inside!]);
  const slow: Code[] = [];
  const within = { ...emitter, levels: emitter.levels.map((statements, n) => (n === level ? slow : statements)) };
  const lanes = laneByLane({ ...context, emitter: within }, view, digit);
  const code = ifElse(isInside.code, load, [slow, lanes.code], "v128");
  return define(emitter, exact(code, dtype, level, true));
}

const atLane = (context: ReadScope, digit: number, lane: number): ReadScope => {
  const first = context.digits.get(digit)!;
  const moved = { ...first, code: i32.add(first.code, i32.const(lane)) };
  return { ...context, digits: new Map([...context.digits, [digit, moved]]) };
};

function laneByLane(context: ReadScope, view: View, digit: number): LoopValue {
  const lanes = Array.from({ length: LANES }, (_, lane) => emitRead(atLane(context, digit, lane), view));
  const { dtype } = lanes[0]!;
  const level = Math.max(...lanes.map((lane) => lane.level));
  return exact(
    assembleLanes(
      dtype,
      lanes.map(({ code }) => code),
    ),
    dtype,
    level,
    true,
  );
}

const FOUR_BYTES = 4;

/** Every other lane of two vectors. */
const EVEN_LANES = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];

/**
 * Loads every `step`th element. For a step of 2, also loads the elements between; the last loaded element may lie past
 * the tensor's end.
 */
const loadLanes = (dtype: DType, address: Code, step: number, memory: number): Code => {
  if (step === 2 && dtypeBytes(dtype) === FOUR_BYTES)
    return v128.shuffle(v128.load(address, 0, memory), v128.load(address, 16, memory), EVEN_LANES);
  return assembleLanes(
    dtype,
    Array.from({ length: LANES }, (_, lane) => loadScalar(dtype, address, lane * step * dtypeBytes(dtype), memory)),
  );
};

/** Scalars as the lanes of a vector; bools as masks. */
export function assembleLanes(dtype: DType, [first, ...rest]: readonly Code[]): Code {
  const { splat, replace } = isFloat(dtype) ? f32x4 : i32x4;
  const lanes = rest.reduce<Code>((vector, code, n) => replace(vector, n + 1, code), splat(first!));
  return dtype === DType.bool ? i32x4.ne(lanes, i32x4.splat(i32.const(0))) : lanes;
}
