import { elementsOf, type ProgramDescription } from "./description.ts";
import { JobInputError } from "./errors.ts";
import { arrayName, holds, type TensorData } from "./typedArrays.ts";

/**
 * The bytes of a job's inputs, in the program's order.
 * @param tensors By the inputs' names: a Float32Array for float32 and so on, row-major; floats of 16 bits as their bits
 *   in a Uint16Array.
 * @throws JobInputError that names the input, what was given and what it takes
 */
export function encodeInputs(program: ProgramDescription, tensors: Readonly<Record<string, TensorData>>): Uint8Array[] {
  const names = program.inputs.map(({ name }) => name);
  const unknown = Object.keys(tensors).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new JobInputError(`the program has no input "${unknown}"; its inputs are ${names.join(", ")}`);
  return program.inputs.map((input) => {
    const { name, dtype, shape } = input;
    const data = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    const expected = `expected a ${arrayName(dtype)} of ${elementsOf(input)} (${dtype}, [${shape.join(", ")}])`;
    if (data === undefined) throw new JobInputError(`input "${name}" is missing: ${expected}`);
    if (!holds(data, dtype) || data.length !== elementsOf(input))
      throw new JobInputError(`input "${name}": ${expected}, got a ${data.constructor.name} of ${data.length}`);
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
  });
}
