import type { DecidedOutput, Decision } from "../model/decision/decision.ts";
import { MarginError } from "../model/decision/errors.ts";
import { readMargin, type DecidingTensor, type Margin } from "../model/decision/margin.ts";
import type { TensorInfo } from "../program/compiled.ts";

/**
 * How far a native tensor that decides was from the exact one, at most, in all inputs of a calibration.
 *
 * - `relative`: the largest difference of two elements, divided by the largest magnitude in the native tensor
 * - `absolute`: the largest difference
 */
export type TensorError = TensorInfo & { relative: number; absolute: number };

/** The least error that is ever assumed, relative to the largest magnitude: neighbouring numbers of float32. */
const MIN_ERROR = 2 ** -23;

/** What native tensors say of a result: whether exact execution decides the same, as far as was calibrated. */
type Judgement = { kind: "thick" } | { kind: "thin"; reason: string };

/**
 * Judges native decisions. One is thick if its margin is larger than `factor` times what the calibrated errors of what
 * decides can change it by ({@link neededMargin}).
 * @param factor How many times the largest error that was found is allowed for.
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
    // Of tokens there is a row for each.
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
 * Whether a decision is the same natively, whatever its margin: it depends on no input, and what decides it has exactly
 * the same values.
 */
export const isSettled = (
  { constant, tensors }: Decision,
  known: ReadonlyMap<string, Pick<TensorError, "absolute">>,
): boolean => constant === true && tensors.every((name) => known.get(name)!.absolute === 0);

type Errors = Pick<TensorError, "relative" | "absolute">;

/** The largest errors of what decides that were found. */
export const errorOf = ({ tensors }: Decision, known: ReadonlyMap<string, Errors>): Errors => ({
  relative: Math.max(MIN_ERROR, ...tensors.map((name) => known.get(name)!.relative)),
  absolute: Math.max(0, ...tensors.map((name) => known.get(name)!.absolute)),
});

/**
 * What a margin must exceed: twice the error, because both of two compared values may be off.
 * SAFETY: where large values cancel, what is left is small and its error is not. So both errors count.
 */
export const neededMargin = ({ relative, absolute }: Errors, scale: number, factor: number): number =>
  2 * factor * Math.max(relative * scale, absolute);
