import { wordNumber } from "../numerics/numbers.ts";
import { dtypeName, isFloat, readWord } from "../numerics/dtype.ts";
import { elementCount, type TensorData } from "../model/onnx/model.ts";

type Named = TensorData & { name: string };

const SHOWN = 8;

function element({ dtype, bytes }: TensorData, i: number): string {
  const word = readWord(bytes, i, dtype);
  return isFloat(dtype) ? String(wordNumber(word, dtype)) : String(word);
}

/** A tensor in a line: name, type, shape, the first elements. */
export function tensorText(tensor: Named): string {
  const count = elementCount(tensor.shape);
  const values = Array.from({ length: Math.min(count, SHOWN) }, (_, i) => element(tensor, i));
  const more = count > SHOWN ? ", ..." : "";
  return `${tensor.name} ${dtypeName(tensor.dtype)}[${tensor.shape.join(", ")}]: ${values.join(", ")}${more}`;
}

/**
 * A tensor whole. Elements are text where JSON numbers do not hold them: 64-bit integers, NaN and infinities.
 * @param file The file that has the elements in place of the JSON.
 */
export function tensorJson(tensor: Named, file?: string) {
  const head = { name: tensor.name, type: dtypeName(tensor.dtype), shape: tensor.shape };
  if (file !== undefined) return { ...head, file };
  const values = Array.from({ length: elementCount(tensor.shape) }, (_, i) => {
    const text = element(tensor, i);
    const number = Number(text);
    return Number.isFinite(number) && (!/^-?\d+$/.test(text) || Number.isSafeInteger(number)) ? number : text;
  });
  return { ...head, values };
}
