import { tensorsOf } from "../../program/trace/runInputs.ts";
import { elementsOf, requireGenuine, type ProgramDescription } from "./description.ts";
import { JobInputError } from "./errors.ts";
import { arrayName, bytesPerElement, holds, type TensorData } from "./typedArrays.ts";

/**
 * Encodes a job's inputs into bytes, in the program's order.
 * @param tensors By input name: a Float32Array for float32 and so on, row-major; 16-bit floats as bits in a
 *   Uint16Array. An input with a separate value per item takes all items' tensors in order; an index input takes none.
 *   Omitted carried state begins with zeros.
 * @param items Number of items in the run.
 * @throws DescriptionError; JobInputError that names the input, the given tensor and the expected tensor
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
