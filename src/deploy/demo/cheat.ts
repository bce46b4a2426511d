import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { FastExecutors } from "../../runs/fastExecutors.ts";
import { DType } from "../../numerics/dtype.ts";
import { Trace } from "../../program/trace/trace.ts";
import type { Execute } from "../../runs/execute.ts";

/** The value that a cheat alters. */
type Alteration = { step: number; element: number };

/**
 * Executes with one float32 raised by 1. Everything after it is computed from that: only this element is inconsistent.
 */
export function cheatingExecute(executors: FastExecutors, { step, element }: Alteration): Execute {
  return (model, inputs) =>
    executors.run(model, inputs, {
      onStep: (s, tensor) => {
        if (s !== step) return;
        const view = new DataView(tensor.buffer, tensor.byteOffset, tensor.byteLength);
        view.setFloat32(element * 4, view.getFloat32(element * 4, true) + 1, true);
      },
    });
}

/** Minimum number of elements in the altered tensor: a dispute then goes down several levels. */
const MIN_ELEMENTS = 1_000;

/**
 * The first large tensor from the middle of the network on in which an altered value changes what the worker commits
 * to.
 */
export async function chooseAlteration(
  executors: FastExecutors,
  { model }: KnownProgram,
  inputs: readonly Uint8Array[],
): Promise<Alteration> {
  const { program } = model;
  const rootOf = async (execute: Execute) => new Trace(program, await execute(model, inputs)).root;
  const honest = await rootOf(executors.execute);
  for (let step = Math.floor(program.steps.length / 2); step < program.steps.length; step++) {
    const { dtype, count } = program.steps[step]!;
    const alteration = { step, element: Math.floor(count / 2) };
    if (
      dtype === DType.float32 &&
      count >= MIN_ELEMENTS &&
      (await rootOf(cheatingExecute(executors, alteration))) !== honest
    )
      return alteration;
  }
  throw new RangeError("no altered value changes the trace");
}
