import { errorWithCode } from "../../base/errors.ts";
import type { Model, TensorData } from "./model.ts";
import { elementTypeName } from "./narrow.ts";

/** A value cannot be bound to an input: no such input exists, or the input takes another type or shape. */
export class InputBindingError extends errorWithCode("MODEL_INPUT_BINDING") {}

/**
 * Returns the model with some inputs known at compile time. The bound inputs become initializers, a part of the program
 * like weights. The same bound values give the same program root.
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
