import { RefuteError } from "../../base/errors.ts";
import { createExecutor } from "../../executor/createExecutor.ts";
import { isFloat, dtypeBytes } from "../../numerics/dtype.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import { plainApart } from "../../native/plain/plainApart.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { programWork } from "../../program/work.ts";
import { randomInput } from "../audit/randomInputs.ts";
import { seededRandom } from "../audit/random.ts";
import { outputTensors } from "../compare/compare.ts";
import { differenceOf } from "../compare/difference.ts";

/** Programs of more work, in units of 10 ns, are not executed: about two seconds. */
const MAX_WORK = 200_000_000n;
/** What counts as large: of floats this part of the largest element, of integers this part of all elements. */
const [OF_LARGEST, OF_ELEMENTS] = [0.1, 0.25];

/**
 * Executes a program on one random input, beside the model's own file in plain onnxruntime. A large difference says
 * that one of the two reads the model otherwise; rounding alone gives small ones.
 * @param bound Inputs of the file that the program has as constants
 * @returns the outputs that differ much, in words; undefined if nothing was compared: the program is too long, the
 *   package is missing, or either side refuses this input
 */
export async function besidePlain(
  path: string,
  model: CompiledModel,
  bound: ReadonlyMap<string, TensorData>,
): Promise<string[] | undefined> {
  if (programWork(model.program) > MAX_WORK) return undefined;
  const random = seededRandom(1);
  const given = model.inputs.map((info) => ({ ...info, bytes: randomInput(info, random) }));
  try {
    const plain = await plainApart({
      from: path,
      inputs: new Map([...given.map((one) => [one.name, one] as const), ...bound]),
    });
    const executor = await createExecutor(model);
    const { tensors } = await executor.run(given.map(({ bytes }) => bytes)).finally(() => executor.close());
    return outputTensors(model, tensors).flatMap((own) => {
      const other = plain?.get(own.name);
      if (other === undefined) return [];
      const what = differsMuch(own, other);
      return what === undefined ? [] : [`${own.name}: ${what}`];
    });
  } catch (error) {
    if (error instanceof RefuteError) return undefined;
    throw error;
  }
}

/** Says how two tensors differ, if they differ much. */
function differsMuch(own: TensorData, other: TensorData): string | undefined {
  if (own.dtype !== other.dtype || own.shape.join() !== other.shape.join())
    return `[${own.shape.join()}], and [${other.shape.join()}] or another type in onnxruntime`;
  if (isFloat(own.dtype)) {
    const { first, absolute } = differenceOf(own, other, OF_LARGEST);
    return first === undefined ? undefined : `up to ${absolute.toPrecision(3)} apart, element ${first} first`;
  }
  const size = dtypeBytes(own.dtype);
  const count = own.bytes.length / size;
  let different = 0;
  for (let i = 0; i < count; i++)
    if (own.bytes.subarray(i * size, (i + 1) * size).some((byte, k) => byte !== other.bytes[i * size + k])) different++;
  return different > OF_ELEMENTS * count ? `${different} of ${count} integers differ` : undefined;
}
