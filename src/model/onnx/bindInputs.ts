import { errorWithCode } from "../../base/errors.ts";
import type { Model, TensorData } from "./model.ts";
import { elementTypeName } from "./narrow.ts";

/** A value that cannot be bound to an input: the model has no such input, or it takes another type or shape. */
export class InputBindingError extends errorWithCode("MODEL_INPUT_BINDING") {}

/**
 * The model with some of its inputs known at compile time: they become initializers, part of the program like a weight.
 * Whoever binds the same values gets the same program root.
 * @throws InputBindingError
 */
export function bindInputs(model: Model, values: ReadonlyMap<string, TensorData>): Model {
  if (values.size === 0) return model;
  const { graph } = model;
  for (const [name, { dtype, shape, narrow }] of values) {
    const input = graph.inputs.find((candidate) => candidate.name === name);
    if (input === undefined) {
      const names = graph.inputs.map((candidate) => `"${candidate.name}"`).join(", ");
      throw new InputBindingError(`${model.source} has no input "${name}" to bind; its inputs are ${names}`);
    }
    const dims = input.shape?.map((dim) => dim ?? "?").join(", ");
    // Bytes stand for elements of any narrow type.
    if (input.dtype !== dtype || (narrow !== undefined && narrow !== input.narrow))
      throw new InputBindingError(
        `${model.source}: "${name}" takes ${elementTypeName(input)}, not ${elementTypeName({ dtype, narrow })}: ` +
          "give it that type",
      );
    const fits = input.shape?.every((dim, d) => typeof dim !== "number" || dim < 1 || dim === shape[d]) ?? true;
    if (!fits || (input.shape ?? shape).length !== shape.length)
      throw new InputBindingError(`${model.source}: [${shape.join(", ")}] does not fit the input "${name}" [${dims}]`);
  }
  return {
    ...model,
    graph: {
      ...graph,
      inputs: graph.inputs.filter((input) => !values.has(input.name)),
      initializers: new Map([
        ...graph.initializers,
        ...[...values].map(([name, value]) => {
          const narrow = graph.inputs.find((input) => input.name === name)?.narrow;
          return [name, narrow === undefined ? value : { ...value, narrow }] as const;
        }),
      ]),
    },
  };
}
