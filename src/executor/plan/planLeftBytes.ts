import { DType } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import type { Constant, Instruction, Step, TensorRef, View } from "../../program/types.ts";
import type { LoopSpec } from "../loops/spec.ts";
import type { Region } from "../memory/memoryPlan.ts";
import { digitStrides } from "../splitStep.ts";
import { centred, type Centred } from "./centred.ts";
import type { Pieces } from "./planPieces.ts";
import { staysInside } from "../../program/loops.ts";
import type { Machine } from "../machine.ts";
import type { PlanResources } from "./planResources.ts";

/** The left factor in a byte product, in one thread's memory. */
export type BoundBytes = {
  /** Returns the address of a piece's bytes; `start` gives the piece's first value of the first digit. */
  at: (start: number) => number;
  /** The address of their zero point, a byte. */
  zero: number;
  /** The address of the piece's factors as int32, in case they are not bytes. */
  wide?: number;
  /** Makes the bytes of a piece; false if its factors are no bytes. */
  make: (start: number, end: number) => boolean;
};

const SIGNED_MIN = -128;

/**
 * Plans the left factor as bytes minus their zero point. Bytes already laid out as a matrix are read in place; other
 * bytes are gathered.
 * @returns undefined unless the factor comes from bytes.
 */
export function planLeftBytes(
  resources: PlanResources,
  step: Step,
  pieces: Pieces,
): { bind(machine: Machine): BoundBytes } | undefined {
  const view = step.termReads[pieces.left];
  const ref = view && step.inputs[view.input]!;
  const source = ref && resources.stepOf(ref);
  const parts = source && centred(source);
  if (ref?.kind !== "step" || parts === undefined) return undefined;
  const digits = [...pieces.rows, ...pieces.inner];
  const radices = [...step.outDigits, ...step.redDigits];
  const isInside = staysInside(view!, radices);
  if (!isInside && view!.fill !== 0n) return undefined;
  const isOnlyReader = [...step.termReads, ...step.epilogueReads].every(
    (other) => other === view || !isSame(step.inputs[other.input]!, ref),
  );
  if (isInside && isOnlyReader) resources.absorb(ref.index);

  // Outside the tensor the difference must be 0; the byte there equals the zero point.
  const gathered = isInside ? parts.bytes : ref;
  const bytesPerValue = digits.slice(1).reduce((product, { radix }) => product * radix, 1);
  const zeroPoint = planLoop(resources, zeroSpec(parts), parts);
  const gather = planLoop(resources, gatherSpec(view!, parts, isInside, digits), parts, gathered);
  const inPlace = isInside && parts.bytes.dtype === DType.uint8 && isMatrix(view!, digits);
  const matrix = inPlace ? resources.source(parts.bytes) : undefined;
  const buffers = resources.perThread(() => ({
    zero: resources.scratch(1),
    bytes: resources.scratch(inPlace ? 0 : pieces.length * pieces.rowsPerValue * pieces.innerCount),
  }));
  return {
    bind(machine) {
      const own = buffers[machine.thread]!;
      const [findZero, gatherBytes] = [zeroPoint(machine), gather(machine)];
      return {
        at: (start) => (matrix === undefined ? own.bytes.address : matrix.address + start * bytesPerValue),
        zero: own.zero.address,
        make(start, end) {
          machine.clock.enter("loops");
          findZero(own.zero.address, 0, 1);
          if (matrix === undefined) gatherBytes(own.bytes.address - start * bytesPerValue, start, end);
          return true;
        },
      };
    },
  };
}

const isSame = (a: TensorRef, b: TensorRef & { kind: "step" }): boolean => a.kind === "step" && a.index === b.index;

/** Whether a view reads a row-major matrix of the digits, from its first element on. */
function isMatrix(view: View, digits: Pieces["rows"]): boolean {
  const strides = digitStrides(digits.map(({ radix }) => radix));
  const moves = (digit: number): number =>
    view.axes.reduce(
      (sum, { stride, coeffs }) => sum + stride * (coeffs.find((term) => term.digit === digit)?.coeff ?? 0),
      0,
    );
  const first = view.axes.reduce((sum, { stride, base }) => sum + stride * base, 0);
  return first === 0 && digits.every(({ digit }, k) => moves(digit) === strides[k]);
}

/** Plans a loop over at most two tensors: first the gathered tensor, then the zero point's tensor. */
function planLoop(
  resources: PlanResources,
  spec: LoopSpec,
  { zero }: Centred,
  gathered?: TensorRef,
): (machine: Machine) => (out: number, start: number, end: number) => void {
  const loop = resources.loop(spec);
  const refs = [gathered, zero !== undefined && "ref" in zero ? zero.ref : undefined];
  const regions = refs.map((ref): Region | undefined => ref && resources.source(ref));
  return (machine) => {
    const sources = regions.map((region) => region?.address ?? 0);
    return (out, start, end) => machine.loops[loop]!(sources, [out], start, end);
  };
}

const BYTES = 0;
const ZERO = 1;
const instruction = (op: Op, dtype: DType, a: number, b: number): Instruction => ({ op, dtype, a, b, c: 0 });
const isTensor = (zero: Centred["zero"]): zero is { ref: TensorRef; view: View } => zero !== undefined && "ref" in zero;
const min = ({ bytes }: Centred): number => (bytes.dtype === DType.int8 ? SIGNED_MIN : 0);
const int32 = (value: number): Constant => ({ dtype: DType.int32, value: BigInt(value) });

/** How a loop reads the zero point: as a tensor's element, or as a constant. */
function zeroParts({ zero }: Centred): { views: View[]; dtype: DType; constant: Constant } {
  if (isTensor(zero)) return { views: [{ ...zero.view, input: ZERO }], dtype: zero.ref.dtype, constant: int32(0) };
  return { views: [], dtype: DType.int32, constant: zero ?? int32(0) };
}

/** The zero point as an unsigned byte. */
function zeroSpec(parts: Centred): LoopSpec {
  const { views, dtype, constant } = zeroParts(parts);
  const shift = views.length + 1;
  const value = 0;
  return {
    digits: [{ digit: 0, radix: 1 }],
    reads: views,
    sourceTypes: [parts.bytes.dtype, dtype],
    constants: [constant, int32(-min(parts))],
    code: [
      instruction(Op.cast, isTensor(parts.zero) ? dtype : constant.dtype, value, DType.int32),
      instruction(Op.add, DType.int32, shift + 1, shift),
      instruction(Op.cast, DType.int32, shift + 2, DType.uint8),
    ],
    outs: [shift + 3],
  };
}

/** The loop that gathers unsigned bytes: the tensor's own, or differences plus the zero point. */
function gatherSpec(view: View, parts: Centred, isBytes: boolean, digits: Pieces["rows"]): LoopSpec {
  const { views, dtype, constant } = zeroParts(parts);
  const from = isBytes ? parts.bytes.dtype : DType.int32;
  const reads = [{ ...view, input: BYTES }, ...(isBytes ? [] : views)];
  const [zero, shift] = [1, reads.length + 1];
  const zeroType = isTensor(parts.zero) ? dtype : constant.dtype;
  const next = shift + 1;
  return {
    digits,
    reads,
    sourceTypes: [from, dtype],
    constants: [constant, int32(-min(parts))],
    code: [
      instruction(Op.cast, from, 0, DType.int32),
      instruction(Op.add, DType.int32, next, shift),
      ...(isBytes
        ? []
        : [instruction(Op.cast, zeroType, zero, DType.int32), instruction(Op.add, DType.int32, next + 1, next + 2)]),
      instruction(Op.cast, DType.int32, isBytes ? next + 1 : next + 3, DType.uint8),
    ],
    outs: [isBytes ? next + 2 : next + 4],
    outStrides: digitStrides(digits.map(({ radix }) => radix)),
  };
}
