import { elementCount } from "../../model/onnx/model.ts";
import type { ValueLocation } from "../../program/compiled.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { plainStrides } from "../steps/views.ts";

/**
 * Returns the graph values that a step holds whole, in any dimension order.
 * @param renumber The new number of each step; undefined for a step left out.
 */
export function locateValues(
  values: ReadonlyMap<string, LazyTensor>,
  renumber: readonly (number | undefined)[],
): Map<string, ValueLocation> {
  const locations = new Map<string, ValueLocation>();
  for (const [name, { dtype, shape, digits, expr }] of values) {
    if (expr.kind !== "read" || expr.source.kind !== "step" || expr.source.count !== elementCount(shape)) continue;
    const step = renumber[expr.source.index];
    const plain = plainStrides(expr, digits);
    if (step !== undefined && plain?.base === 0) locations.set(name, { step, dtype, shape, strides: plain.strides });
  }
  return locations;
}
