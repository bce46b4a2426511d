import { fromHash, sha256 } from "./merkle/hash.ts";
import { DType, type Word } from "../numerics/dtype.ts";
import { ByteWriter } from "./bytes.ts";
import type { Instruction, Program, Step, TensorRef, View } from "./types.ts";
import { programWork } from "./work.ts";

/** The semantics version to which a header commits. */
export const SEMANTICS_VERSION = 2;
/** The codes of where an input comes from. */
export const SOURCE = { shared: 0, each: 1, carried: 2, index: 3 } as const;
/** Which items have an output: the last one, or each. */
export const SCOPE = { last: 0, each: 1 } as const;
/** The source checkpoint field for inputs without a carried source. */
const NOT_CARRIED = 0;

const KIND = { input: 0, constant: 1, step: 2 } as const;
const NO_INDEX = 255;

/** The canonical bytes of a step's body (docs/program.md, "Step body"). */
export function encodeStepBody(step: Step): Uint8Array {
  const w = new ByteWriter();
  list(w, step.inputs, encodeRef);
  list(w, step.outDigits, (radix) => w.unsigned(radix, 4));
  list(w, step.redDigits, (radix) => w.unsigned(radix, 4));
  w.unsigned(step.reduce, 1).unsigned(step.reduceType ?? 0, 1);
  list(w, step.constants, (c) => w.unsigned(c.dtype, 1).signed(written(c.value, c.dtype), 8));
  list(w, step.termReads, encodeView);
  list(w, step.epilogueReads, encodeView);
  list(w, step.term.code, encodeInstruction);
  w.unsigned(step.term.outA, 1).unsigned(step.term.outB, 1);
  list(w, step.epilogue.code, encodeInstruction);
  w.unsigned(step.epilogue.out, 1);
  return w.finish();

  function encodeRef(ref: TensorRef): void {
    w.unsigned(KIND[ref.kind], 1).unsigned(ref.dtype, 1).unsigned(ref.count, 8);
    if (ref.kind === "constant") w.raw(fromHash(ref.root));
    else w.unsigned(ref.index, 4);
  }

  function encodeView(view: View): void {
    w.unsigned(view.input, 1).signed(written(view.fill, step.inputs[view.input]!.dtype), 8);
    list(w, view.axes, (axis) => {
      w.unsigned(axis.extent, 4).unsigned(axis.stride, 4).signed(axis.base, 4).unsigned(axis.div, 4);
      w.unsigned(axis.indirect ?? NO_INDEX, 1);
      list(w, axis.coeffs, ({ digit, coeff }) => w.unsigned(digit, 1).signed(coeff, 4));
    });
  }

  function encodeInstruction({ op, dtype, a, b, c }: Instruction): void {
    w.unsigned(op, 1).unsigned(dtype, 1).unsigned(a, 1).unsigned(b, 1).unsigned(c, 1);
  }
}

/** A word as a signed number of 64 bits; for a float64, its bits. */
const written = (word: Word, dtype: DType): bigint => (dtype === DType.float64 ? BigInt.asIntN(64, word) : word);

function list<T>(w: ByteWriter, items: readonly T[], write: (item: T) => unknown): void {
  w.unsigned(items.length, 1);
  for (const item of items) write(item);
}

/** The leaf of a step in the steps list. */
export function stepLeaf(step: Step): Uint8Array {
  const head = new ByteWriter().unsigned(0, 1).unsigned(step.dtype, 1).unsigned(step.count, 8).finish();
  return sha256(head, sha256(encodeStepBody(step)));
}

/** The leaf of a checkpoint in the checkpoints list. */
export function checkpointLeaf(checkpoint: { first: number; step: number }): Uint8Array {
  return sha256(new ByteWriter().unsigned(0, 1).unsigned(checkpoint.first, 4).unsigned(checkpoint.step, 4).finish());
}

/** The canonical bytes of a program's header (docs/program.md, "Header"). */
export function encodeHeader(program: Program): Uint8Array {
  const w = new ByteWriter()
    .unsigned(SEMANTICS_VERSION, 2)
    .unsigned(program.maxStepGas, 4)
    .unsigned(program.maxStepBytes, 4)
    .unsigned(programWork(program), 8)
    .unsigned(program.steps.length, 4)
    .unsigned(program.checkpoints.length, 4)
    .unsigned(program.inputs.length, 2)
    .unsigned(program.outputs.length, 2);
  for (const { dtype, count, source } of program.inputs) {
    const carried = source?.kind === "carried" ? source.checkpoint : NOT_CARRIED;
    w.unsigned(dtype, 1)
      .unsigned(count, 8)
      .unsigned(SOURCE[source?.kind ?? "shared"], 1)
      .unsigned(carried, 4);
  }
  program.outputs.forEach((checkpoint, k) => {
    const { dtype, count } = program.steps[program.checkpoints[checkpoint]!.step]!;
    const scope = program.each?.includes(k) ? SCOPE.each : SCOPE.last;
    w.unsigned(checkpoint, 4).unsigned(dtype, 1).unsigned(count, 8).unsigned(scope, 1);
  });
  return w.finish();
}
