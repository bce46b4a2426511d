import { DType } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { Reduce, type Step, type View } from "../../program/types.ts";
import { freshSeed, Prng } from "../../base/prng.ts";
import type { LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { byteCheck, makeWitness, ROWS, rowVisits, witnessLength } from "../product/byteCheck.ts";
import { byteZero, wideProduct } from "../product/byteProduct.ts";
import { planEpilogue } from "./planEpilogue.ts";
import { planFactor } from "./planFactor.ts";
import { planLeftBytes, type BoundBytes } from "./planLeftBytes.ts";
import { piecesOf, planPieces, type Pieces } from "./planPieces.ts";
import type { Machine, Operation } from "../machine.ts";
import type { StepPlan } from "./stepPlan.ts";
import type { PlanResources } from "./planResources.ts";

const INT32 = 4;
const MIN_SIDE = 4;
/**
 * With more terms, sums of byte products (at most 255^2 each, and the corrections for zero points) could leave int32
 * during the computation.
 */
const MAX_TERMS = 2 ** 13;

/** The offset of an operand's zero point, an int32, after the operand's bytes. */
const zeroAt = (count: number): number => Math.ceil(count / 64) * 64;
const operandBytes = (count: number): number => zeroAt(count) + INT32;

/**
 * Plans a matrix product of 32-bit integers with a constant factor made from bytes around a zero point, for quantised
 * models. If the other factor comes from bytes, as usual, the plan reads those bytes. Otherwise the plan gathers the
 * factor as int32 and narrows it if its values turn out to be bytes.
 * @returns undefined if the step is no such product, or too small for a benefit.
 */
export function planByteProduct(resources: PlanResources, step: Step, out: Region): StepPlan | undefined {
  const isWord = step.reduceType === DType.int32 || step.reduceType === DType.uint32;
  if (step.reduce !== Reduce.dot || !isWord) return undefined;
  const pieces = planPieces(step, resources.options);
  const { columns, inner, rowCount, columnCount, innerCount, rowsPerValue } = pieces;
  if (pieces.cutsGroups || innerCount > MAX_TERMS || rowCount < MIN_SIDE || columnCount < MIN_SIDE) return undefined;
  if (rowCount * columnCount * innerCount < resources.options.minEngineWork) return undefined;
  if (!resources.areBytes(step, pieces.right!, byteZero)) return undefined;

  const pieceTerms = pieces.length * rowsPerValue * innerCount;
  const rightTerms = columnCount * innerCount;
  const narrowRight = resources.loop(narrowing(rightTerms));
  const left = planNarrowed(resources, step, pieces, pieceTerms);
  const leftBytes = planLeftBytes(resources, step, pieces);
  const right = planFactor(resources, step, pieces.right!, [...inner, ...columns], {
    isWidened: false,
    replacement: {
      name: "bytes",
      bytes: operandBytes(rightTerms) + witnessLength(columnCount, innerCount) * INT32,
      make: (machine, from, to) => {
        const min = machine.engine.bytes?.minRight ?? 0;
        narrow(machine, { loop: narrowRight, from, to, room: rightTerms, count: rightTerms, min });
        const { values, zero, witness } = rightOf(machine, to);
        makeWitness(values, zero[0]!, { columns: columnCount, inner: innerCount }, witness, new Prng(freshSeed()));
      },
    },
  });
  const epilogue = planEpilogue(resources, step, pieces.strides, pieces.order, out);
  const buffers = resources.perThread(() => resources.scratch(pieces.length * pieces.resultsPerValue * INT32));
  return { shared: pieces.isCut, termNanoseconds: 0.1, prepare: right.prepare, bind };

  /** Returns the right operand at an address: signed or unsigned bytes, the zero point, and the witness for checks. */
  function rightOf({ views, engine }: Machine, address: number) {
    const type = engine.bytes?.minRight === -128 ? DType.int8 : DType.uint8;
    return {
      values: views.elements(address, type, rightTerms) as Int8Array | Uint8Array,
      zero: views.int32(address + zeroAt(rightTerms), 1),
      witness: views.int32(address + operandBytes(rightTerms), witnessLength(columnCount, innerCount)),
    };
  }

  function bind(machine: Machine): Operation {
    const usual = operation(machine, left.bind(machine));
    if (leftBytes === undefined) return usual;
    const quick = operation(machine, leftBytes.bind(machine));
    return () => (machine.altering.isOn ? usual() : quick());
  }

  function operation(machine: Machine, { at, zero, make, wide }: BoundBytes): Operation {
    const { views, engine, clock, checks } = machine;
    const own = buffers[machine.thread]!;
    const finish = epilogue.bind(machine);
    const rightBytes = views.part(right.region!.address, rightTerms);
    const rightZero = views.part(right.region!.address + zeroAt(rightTerms), 1);
    const { values: rightValues, zero: rightShift, witness } = rightOf(machine, right.region!.address);
    const leftZero = views.part(zero, 1);
    const runs = piecesOf(pieces, machine).map(({ start, end }) => {
      const shape = { rows: (end - start) * rowsPerValue, columns: columnCount, inner: innerCount };
      const count = shape.rows * innerCount;
      const bytes = views.part(at(start), count);
      const results = views.int32(own.address, shape.rows * columnCount);
      const multiply = engine.bytes?.product(bytes, rightBytes, { left: leftZero, right: rightZero }, results, shape);
      const visits = rowVisits(shape);
      const checkRow = byteCheck({ left: bytes, leftZero, results }, shape, witness);
      const checkSome = (): void =>
        checks.run(shape.rows, visits, ROWS, (row) => {
          clock.enter("checks");
          checkRow(row);
        });
      const wideLeft = wide === undefined ? undefined : views.int32(wide, count);
      const run = (): void | Promise<void> => {
        const areBytes = make(start, end);
        clock.enter("products");
        if (areBytes && multiply !== undefined) {
          const pending = multiply();
          return pending === undefined ? checkSome() : pending.then(checkSome);
        }
        const [factor, shift] = areBytes ? [bytes, leftZero[0]!] : [wideLeft!, 0];
        wideProduct(factor, rightValues, { left: shift, right: rightShift[0]! }, results, shape);
      };
      const conclude = (): void => finish([own.address - start * pieces.resultsPerValue * INT32], start, end);
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

/** Plans the left factor: gathered as int32, then narrowed to bytes if its values turn out to be bytes. */
function planNarrowed(
  resources: PlanResources,
  step: Step,
  pieces: Pieces,
  room: number,
): { bind(machine: Machine): BoundBytes } {
  const loop = resources.loop(narrowing(room));
  const factor = planFactor(resources, step, pieces.left, [...pieces.rows, ...pieces.inner], { isWidened: false });
  const buffers = resources.perThread(() => ({
    wide: resources.scratch(room * INT32),
    bytes: resources.scratch(operandBytes(room)),
  }));
  return {
    bind(machine) {
      const { wide, bytes } = buffers[machine.thread]!;
      const gather = factor.bind(machine);
      return {
        at: () => bytes.address,
        zero: bytes.address + zeroAt(room),
        wide: wide.address,
        make(start, end) {
          gather(wide.address, start, end);
          const count = (end - start) * pieces.rowsPerValue * pieces.innerCount;
          return narrow(machine, { loop, from: wide.address, to: bytes.address, room, count, min: 0 });
        },
      };
    },
  };
}

type Narrowing = {
  loop: number;
  from: number;
  to: number;
  count: number;
  /** The maximum number of bytes: the zero point lies after this many. */
  room: number;
  /** The value of the minimum byte. */
  min: 0 | -128;
};

/**
 * Makes bytes from int32 by adding the zero point stored after them.
 * @returns false unless the values are bytes around a zero point.
 */
function narrow(machine: Machine, { loop, from, to, count, room, min }: Narrowing): boolean {
  const { views, loops, clock } = machine;
  clock.enter("loops");
  const zero = byteZero(views.int32(from, count));
  if (zero === undefined) return false;
  views.int32(to + zeroAt(room), 1)[0] = zero + min;
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
