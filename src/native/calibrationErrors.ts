import type { DecidedOutput, Decision } from "../model/decision/decision.ts";
import { MarginError } from "../model/decision/errors.ts";
import { readMargin, type DecidingTensor, type Margin } from "../model/decision/margin.ts";
import type { TensorInfo } from "../program/compiled.ts";

/**
 * The maximum distance between a deciding native tensor and the exact tensor, over all inputs of a calibration.
 *
 * - `relative`: the largest difference of two elements, divided by the largest magnitude in the native tensor
 * - `absolute`: the largest difference
 */
export type TensorError = TensorInfo & { relative: number; absolute: number };

/** The minimum error ever assumed, relative to the largest magnitude: the gap between neighbouring float32 numbers. */
const MIN_ERROR = 2 ** -23;

/** The judgement from native tensors: whether exact execution decides the same, within the calibration. */
type Judgement = { kind: "thick" } | { kind: "thin"; reason: string };

/**
 * Judges native decisions. A decision counts as thick if its margin exceeds `factor` times the maximum effect from its
 * deciding tensors' calibrated errors ({@link neededMargin}).
 * @param factor The allowed multiple of the largest error found.
 */
export function judge(
  outputs: readonly DecidedOutput[],
  errors: readonly TensorError[],
  deciding: ReadonlyMap<string, DecidingTensor>,
  factor: number,
): Judgement {
  const known = new Map(errors.map((error) => [error.name, error]));
  for (const { name, decisions } of outputs)
    for (const decision of decisions) {
      const reason = thinness(decision, known, deciding, factor);
      if (reason !== undefined)
        return { kind: "thin", reason: `${name}: ${decision.kind} (${decision.node}): ${reason}` };
    }
  return { kind: "thick" };
}

function thinness(
  decision: Decision,
  known: ReadonlyMap<string, TensorError>,
  deciding: ReadonlyMap<string, DecidingTensor>,
  factor: number,
): string | undefined {
  for (const name of decision.tensors) {
    const [error, tensor] = [known.get(name), deciding.get(name)];
    if (error === undefined) return `${name} was not calibrated`;
    if (tensor === undefined) return `${name} is missing`;
    // Token decisions have a row for each token.
    const dims = decision.kind === "token" ? tensor.dims.slice(-error.shape.length) : tensor.dims;
    if (dims.join() !== error.shape.join())
      return `${name} has the shape [${tensor.dims.join(", ")}], not [${error.shape.join(", ")}]`;
  }
  if (isSettled(decision, known)) return undefined;
  const { margin, scale } = marginOf(decision, deciding);
  const needed = neededMargin(errorOf(decision, known), scale, factor);
  if (margin > needed) return undefined;
  return `its margin is ${margin.toPrecision(3)}, and native errors may change it by ${needed.toPrecision(3)}`;
}

/** A decision's margin; 0 where none can be read. */
export function marginOf(decision: Decision, deciding: ReadonlyMap<string, DecidingTensor>): Margin {
  try {
    return readMargin(decision, deciding);
  } catch (error) {
    if (error instanceof MarginError) return { margin: 0, scale: 0 };
    throw error;
  }
}

/**
 * Returns true if a native decision agrees regardless of the margin: the decision depends on no input, and the deciding
 * values are exactly the same.
 */
export const isSettled = (
  { constant, tensors }: Decision,
  known: ReadonlyMap<string, Pick<TensorError, "absolute">>,
): boolean => constant === true && tensors.every((name) => known.get(name)!.absolute === 0);

type Errors = Pick<TensorError, "relative" | "absolute">;

/** Returns the largest errors found in a decision's deciding tensors. */
export const errorOf = ({ tensors }: Decision, known: ReadonlyMap<string, Errors>): Errors => ({
  relative: Math.max(MIN_ERROR, ...tensors.map((name) => known.get(name)!.relative)),
  absolute: Math.max(0, ...tensors.map((name) => known.get(name)!.absolute)),
});

/**
 * Returns the minimum for margins: a margin must exceed twice the error, because both compared values may be off.
 *
 * SAFETY: cancelling large values leave a small remainder with a large error. Both errors therefore count.
 */
export const neededMargin = ({ relative, absolute }: Errors, scale: number, factor: number): number =>
  2 * factor * Math.max(relative * scale, absolute);
