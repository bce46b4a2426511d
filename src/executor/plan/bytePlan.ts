import { DType } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import type { LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { byteZero, wideProduct } from "../product/byteProduct.ts";
import { planEpilogue } from "./epilogue.ts";
import { planFactor } from "./factor.ts";
import { piecesOf, planPieces } from "./pieces.ts";
import type { Machine, Operation, StepPlan } from "./plan.ts";
import type { Planner } from "./planner.ts";
import { both } from "./productPlan.ts";

const INT32 = 4;
const LEAST_SIDE = 4;
/** With more terms, sums of byte products (255^2 at most, and the corrections for zero points) could leave int32 on the way. */
const MOST_TERMS = 2 ** 13;

/** Bytes of an operand, then its zero point as an int32. */
const zeroAt = (count: number): number => Math.ceil(count / 64) * 64;
const operandBytes = (count: number): number => zeroAt(count) + INT32;

/**
 * Matrix products of 32-bit integers with constant weights that are bytes around a zero point: those of quantised models. The other factor
 * is gathered as int32 and narrowed if it is found to be such bytes, too, as it is unless the model is made otherwise.
 * @returns undefined for what is no such product or too small to be one.
 */
export function bytePlan(planner: Planner, step: Step, out: Region): StepPlan | undefined {
  const isWord = step.reduceType === DType.int32 || step.reduceType === DType.uint32;
  if (step.reduce !== Reduce.dot || !isWord) return undefined;
  const pieces = planPieces(step, planner.options);
  const { rows, columns, inner, rowCount, columnCount, innerCount, rowsPerValue } = pieces;
  if (pieces.cutsGroups || innerCount > MOST_TERMS || rowCount < LEAST_SIDE || columnCount < LEAST_SIDE)
    return undefined;
  if (rowCount * columnCount * innerCount < planner.options.leastEngineWork) return undefined;
  if (!planner.areBytes(step, pieces.right!, byteZero)) return undefined;

  const pieceTerms = pieces.length * rowsPerValue * innerCount;
  const rightTerms = columnCount * innerCount;
  const narrowLeft = planner.loop(narrowing(pieceTerms));
  const narrowRight = planner.loop(narrowing(rightTerms));
  const left = planFactor(planner, step, pieces.left, [...rows, ...inner], { isWidened: false });
  const right = planFactor(planner, step, pieces.right!, [...inner, ...columns], {
    isWidened: false,
    replacement: {
      bytes: operandBytes(rightTerms),
      make: (machine, from, to) => {
        const least = machine.engine.bytes?.leastRight ?? 0;
        narrow(machine, { loop: narrowRight, from, to, room: rightTerms, count: rightTerms, least });
      },
    },
  });
  const epilogue = planEpilogue(planner, step, pieces.strides, pieces.digits, out);
  const buffers = planner.perThread(() => ({
    left: planner.scratch(pieceTerms * INT32),
    bytes: planner.scratch(operandBytes(pieceTerms)),
    results: planner.scratch(pieces.length * pieces.resultsPerValue * INT32),
  }));
  return { shared: pieces.isCut, termNanoseconds: 0.1, prepare: both(left.prepare, right.prepare), bind };

  function bind(machine: Machine): Operation {
    const { views, engine, clock } = machine;
    const own = buffers[machine.thread]!;
    const gather = left.bind(machine);
    const finish = epilogue.bind(machine);
    const rightBytes = views.part(right.region!.address, rightTerms);
    const rightZero = views.part(right.region!.address + zeroAt(rightTerms), 1);
    const rightType = engine.bytes?.leastRight === -128 ? DType.int8 : DType.uint8;
    const rightValues = views.elements(right.region!.address, rightType, rightTerms) as Int8Array | Uint8Array;
    const rightShift = views.int32(right.region!.address + zeroAt(rightTerms), 1);
    const runs = piecesOf(pieces, machine).map(({ start, end }) => {
      const shape = { rows: (end - start) * rowsPerValue, columns: columnCount, inner: innerCount };
      const count = shape.rows * innerCount;
      const bytes = views.part(own.bytes.address, count);
      const zero = views.part(own.bytes.address + zeroAt(pieceTerms), 1);
      const results = views.int32(own.results.address, shape.rows * columnCount);
      const zeros = { left: zero, right: rightZero };
      const multiply = engine.bytes?.product(bytes, rightBytes, zeros, results, shape);
      const wide = views.int32(own.left.address, count);
      const run = (): void | Promise<void> => {
        gather(own.left.address, start, end);
        const isNarrow =
          multiply !== undefined &&
          narrow(machine, {
            ...{ loop: narrowLeft, from: own.left.address, to: own.bytes.address },
            ...{ room: pieceTerms, count, least: 0 },
          });
        clock.enter("products");
        if (isNarrow) return multiply();
        wideProduct(wide, rightValues, rightShift[0]!, results, shape);
      };
      const conclude = (): void => finish([own.results.address - start * pieces.resultsPerValue * INT32], start, end);
      return (): void | Promise<void> => {
        const pending = run();
        return pending === undefined ? conclude() : pending.then(conclude);
      };
    });
    return () => {
      let pending: Promise<void> | undefined;
      for (const run of runs) {
        if (pending === undefined) pending = run() ?? undefined;
        else pending = pending.then(run);
      }
      return pending;
    };
  }
}

type Narrowing = {
  loop: number;
  from: number;
  to: number;
  count: number;
  /** How many there may be: the zero point lies behind so many. */
  room: number;
  /** What the least byte stands for. */
  least: 0 | -128;
};

/**
 * Makes bytes of int32, by adding the zero point that is stored behind them.
 * @returns false if they are not bytes around a zero point.
 */
function narrow(machine: Machine, { loop, from, to, count, room, least }: Narrowing): boolean {
  const { views, loops, clock } = machine;
  clock.enter("loops");
  const zero = byteZero(views.int32(from, count));
  if (zero === undefined) return false;
  views.int32(to + zeroAt(room), 1)[0] = zero + least;
  loops[loop]!([from, to + zeroAt(room)], [to], 0, count);
  return true;
}

/** `bytes[i] = words[i] + zero`, modulo 256. */
function narrowing(count: number): LoopSpec {
  const view = (input: number, coeff: number): View => ({
    input,
    fill: 0n,
    axes: [{ extent: count, stride: 1, base: 0, div: 1, coeffs: coeff === 0 ? [] : [{ digit: 0, coeff }] }],
  });
  return {
    digits: [{ digit: 0, radix: count }],
    reads: [view(0, 1), view(1, 0)],
    sourceTypes: [DType.int32, DType.int32],
    constants: [],
    code: [
      { op: Op.add, dtype: DType.int32, a: 0, b: 1, c: 0 },
      { op: Op.cast, dtype: DType.int32, a: 2, b: DType.uint8, c: 0 },
    ],
    outs: [3],
  };
}
