/** Workers that leave layers of a decoder out. */
import { DECODER } from "../../src/compiler/wraps/wrapDecoder.ts";
import type { ExecutionOptions } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A step that adds a layer part's result to the stream through all layers, the tensor of `from`. */
type Residual = { step: number; from: number };

/**
 * Returns the residual sums of a decoder's program, in order. Each layer has two sums: after the attention and after
 * the feed-forward part.
 * @param width Elements of the stream through the layers.
 */
export function residualSums({ program: { steps } }: Pick<CompiledModel, "program">, width: number): Residual[] {
  const sums: Residual[] = [];
  let stream = steps.findIndex(({ count }) => count === width);
  for (const [step, { inputs, count }] of steps.entries()) {
    const read = inputs.flatMap((ref) => (ref.kind === "step" ? [ref.index] : []));
    const isSum = count === width && read.includes(stream) && read.some((of) => of !== stream && size(of) >= width);
    if (!isSum) continue;
    sums.push({ step, from: stream });
    stream = step;
  }
  return sums;

  function size(step: number): number {
    return steps[step]!.count;
  }
}

/** Executes a program, with a callback on each step's tensor. */
export type Run = (
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  options: Pick<ExecutionOptions, "onStep"> & { keep?: (step: number) => boolean },
) => Promise<Uint8Array[]>;

/** Executes a run of a decoder, but in some items residual sums are what they were before: their layers add nothing. */
export const leavingOut =
  (run: Run, sums: readonly Residual[], isItem: (item: number) => boolean): Execute =>
  (model, inputs, keep) => {
    const before = new Map(sums.map(({ from }) => [from, new Uint8Array()]));
    const left = new Map(sums.map(({ step, from }) => [step, from]));
    const index = inputs[model.inputs.findIndex(({ name }) => name === DECODER.index)]!;
    const item = Number(new DataView(index.buffer, index.byteOffset).getBigInt64(0, true));
    if (!isItem(item)) return run(model, inputs, { ...(keep && { keep }) });
    return run(model, inputs, {
      ...(keep && { keep }),
      onStep: (step, tensor) => {
        const from = left.get(step);
        if (from !== undefined) tensor.set(before.get(from)!);
        if (before.has(step)) before.set(step, tensor.slice());
      },
    });
  };
