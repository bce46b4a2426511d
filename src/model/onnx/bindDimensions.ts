import { errorWithCode } from "../../base/errors.ts";
import type { Model } from "./model.ts";

/** A dimension with a given size does not occur in any input of the model. */
export class DimensionError extends errorWithCode("MODEL_DIMENSION") {}

/**
 * Returns the model with sizes for named dimensions, for example `sequence`, in every input with the name.
 * @throws DimensionError with the name missing from all inputs, and the existing names
 */
export function bindDimensions(model: Model, dims: Readonly<Record<string, number>> = {}): Model {
  const sizes = new Map(Object.entries(dims));
  if (sizes.size === 0) return model;
  const { graph, source } = model;
  const named = new Set(graph.inputs.flatMap(({ shape = [] }) => shape.filter((dim) => typeof dim === "string")));
  for (const [name, size] of sizes) {
    if (!named.has(name)) {
      const known = [...named].map((each) => `"${each}"`).join(", ");
      throw new DimensionError(
        `${source}: no input has a dimension "${name}"; ` +
          (known === "" ? "its inputs name none: give shapes (--shape)" : `its inputs name ${known}`),
      );
    }
    if (!Number.isSafeInteger(size) || size < 1)
      throw new DimensionError(
        `${source}: the dimension "${name}" cannot be ${size}: expected a whole number from 1 on`,
      );
  }
  const inputs = graph.inputs.map((input) => ({
    ...input,
    shape: input.shape?.map((dim) => (typeof dim === "string" ? (sizes.get(dim) ?? dim) : dim)),
  }));
  return { ...model, graph: { ...graph, inputs } };
}
