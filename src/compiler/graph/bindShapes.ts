import { elementCount, MAX_RANK, type Model, type ValueInfo } from "../../model/onnx/model.ts";
import { MAX_COUNT } from "../../program/limits.ts";
import { InputShapeError, OpenShapeError } from "../errors.ts";

/**
 * The concrete shape of every graph input: as given, else as the model has it.
 * @throws InputShapeError if a dimension stays open, contradicts the model or another input, or is no whole number
 */
export function bindShapes(model: Model, shapes: Readonly<Record<string, readonly number[]>>): number[][] {
  const { inputs } = model.graph;
  // Names come from the model: a name may equal a property that every object has.
  const givenFor = new Map(Object.entries(shapes));
  for (const name of givenFor.keys())
    if (!inputs.some((input) => input.name === name))
      throw new InputShapeError(
        `${model.source} has no input "${name}"; its inputs are ${inputs.map((i) => `"${i.name}"`).join(", ")}`,
      );
  const open = inputs.filter(
    ({ name, shape }) => !givenFor.has(name) && shape?.every((dim) => typeof dim === "number" && dim > 0) !== true,
  );
  if (open.length > 0) throw new OpenShapeError(model.source, open.map(openText));
  const symbols = new Map<string, number>();
  return inputs.map((input) => {
    const given = givenFor.get(input.name);
    const expected = `"${input.name}" [${input.shape?.map((dim) => dim ?? "?").join(", ") ?? "of any rank"}]`;
    const shape = [...(given ?? (input.shape as readonly number[]))];
    const fits =
      input.shape === undefined ||
      (input.shape.length === shape.length &&
        input.shape.every((dim, d) => typeof dim !== "number" || dim < 1 || dim === shape[d]));
    if (!fits) {
      const example = input.shape && `; give one that does, for example ${shapeFlag(input.name, input.shape, shape)}`;
      throw new InputShapeError(
        `${model.source}: [${shape.join(", ")}] does not fit the input ${expected}${example ?? ""}`,
      );
    }
    if (shape.some((dim) => !Number.isSafeInteger(dim) || dim < 0))
      throw new InputShapeError(`${model.source}: [${shape.join(", ")}] for ${expected} is not of whole numbers`);
    if (shape.length > MAX_RANK)
      throw new InputShapeError(`${model.source}: "${input.name}" has ${shape.length} dimensions, at most ${MAX_RANK}`);
    if (elementCount(shape) >= MAX_COUNT)
      throw new InputShapeError(`${model.source}: [${shape.join(", ")}] for ${expected} has 2^32 elements or more`);
    input.shape?.forEach((dim, d) => {
      if (typeof dim !== "string") return;
      const bound = symbols.get(dim) ?? shape[d]!;
      if (bound !== shape[d]) throw new InputShapeError(`${model.source}: "${dim}" is ${bound} and ${shape[d]}`);
      symbols.set(dim, bound);
    });
    return shape;
  });
}

/** Returns a shape that fits an input: open dimensions are those of the given shape, or 1. */
export const requiredShape = (shape: NonNullable<ValueInfo["shape"]>, given: readonly number[] = []): number[] =>
  shape.map((dim, d) =>
    typeof dim === "number" && dim > 0 ? dim : given.length === shape.length && given[d]! > 0 ? given[d]! : 1,
  );

const shapeFlag = (name: string, shape: NonNullable<ValueInfo["shape"]>, given?: readonly number[]): string =>
  `--shape ${name}=${requiredShape(shape, given).join()}`;

/** Returns the open dimensions of an input, by name. */
function openText({ name, shape }: ValueInfo): string {
  if (shape === undefined) return `the input "${name}" is of any rank: give its shape, for example --shape ${name}=1,3`;
  const dims = shape.map((dim) => (typeof dim === "number" && dim < 1 ? "?" : (dim ?? "?")));
  const unknown = dims.flatMap((dim, d) =>
    typeof dim === "number" ? [] : [dim === "?" ? `dimension ${d}` : `"${dim}"`],
  );
  const named = shape.filter((dim) => typeof dim === "string").map((dim) => `--dim ${dim}=N`);
  return (
    `the input "${name}" [${dims.join(", ")}] leaves ${unknown.join(", ")} open: ` +
    `give its shape, for example ${shapeFlag(name, shape)}` +
    (named.length === unknown.length ? `, or ${named.join(" ")}` : "")
  );
}
