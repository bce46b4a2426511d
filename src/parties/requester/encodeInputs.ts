import { tensorsOf } from "../../program/trace/runInputs.ts";
import { elementsOf, requireGenuine, type ProgramDescription } from "./description.ts";
import { JobInputError } from "./errors.ts";
import { arrayName, bytesPerElement, holds, type TensorData } from "./typedArrays.ts";

/**
 * The bytes of a job's inputs, in the program's order.
 * @param tensors By the inputs' names: a Float32Array for float32 and so on, row-major; floats of 16 bits as their bits
 *   in a Uint16Array. Of an input that each item has of its own, the tensors of all items in order; none of the index.
 *   State that is carried begins with zeros if it is left out.
 * @param items Of the run.
 * @throws DescriptionError; JobInputError that names the input, what was given and what it takes
 */
export function encodeInputs(
  program: ProgramDescription,
  tensors: Readonly<Record<string, TensorData>>,
  items = 1,
): Uint8Array[] {
  const names = program.inputs.map(({ name }) => name);
  const unknown = Object.keys(tensors).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new JobInputError(`the program has no input "${unknown}"; its inputs are ${names.join(", ")}`);
  const { inputs } = requireGenuine(program);
  return program.inputs.map((input, k) => {
    const { name, dtype, shape } = input;
    const { kind } = inputs[k]!.source;
    const data = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    if (kind === "index") {
      if (data === undefined) return new Uint8Array(0);
      throw new JobInputError(`input "${name}" is the number of the item: leave it out`);
    }
    const elements = elementsOf(input) * tensorsOf(inputs[k]!, items);
    const dims = [...(kind === "each" ? [items] : []), ...shape].join(", ");
    const expected = `expected a ${arrayName(dtype)} of ${elements} (${dtype}, [${dims}])`;
    if (data === undefined && kind === "carried") return new Uint8Array(elements * bytesPerElement(dtype));
    if (data === undefined) throw new JobInputError(`input "${name}" is missing: ${expected}`);
    if (!holds(data, dtype) || data.length !== elements)
      throw new JobInputError(`input "${name}": ${expected}, got a ${data.constructor.name} of ${data.length}`);
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
  });
}
