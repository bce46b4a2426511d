import { TensorProto_DataType as Type, type TensorProto } from "onnx-buf";
import { DType } from "../numerics/dtype.ts";
import { elementCount, type Node, type TensorData } from "./model.ts";

/** int4 and uint4 tensors are read as int8 and uint8 of the same values. */
const WIDENED: ReadonlyMap<number, DType> = new Map([
  [Type.UINT4, DType.uint8],
  [Type.INT4, DType.int8],
]);

/** Operators whose result does not depend on how wide the integers are that they read. */
const READERS: ReadonlySet<string> = new Set(["DequantizeLinear", "Cast"]);

/** The type as which a tensor of four bits is read; undefined if the tensor has another type. */
export const widenedType = (dataType: number): DType | undefined => WIDENED.get(dataType);

/**
 * The elements of four bits, two to a byte, the lower half first, as they are in the model.
 * @returns undefined if there are too few or too many bytes
 */
export function readFourBits(tensor: TensorProto, raw: Uint8Array, shape: readonly number[]): TensorData | undefined {
  const bytes = raw.length > 0 ? raw : Uint8Array.from(tensor.int32Data);
  if (bytes.length !== Math.ceil(elementCount(shape) / 2)) return undefined;
  return { dtype: WIDENED.get(tensor.dataType)!, shape, bytes, fourBits: true };
}

/** The same tensor with a byte for each element. */
export function unpackFourBits({ dtype, shape, bytes: packed }: TensorData): TensorData {
  const bytes = new Uint8Array(elementCount(shape));
  for (let i = 0; i < bytes.length; i++) {
    const half = (packed[i >> 1]! >> (4 * (i & 1))) & 15;
    bytes[i] = dtype === DType.int8 && half > 7 ? half - 16 : half;
  }
  return { dtype, shape, bytes };
}

/** The tensors of four bits that are graph outputs or are read by an operator that is not one of READERS. */
export function misused(
  nodes: readonly Node[],
  initializers: ReadonlyMap<string, TensorData>,
  outputs: readonly string[],
): string[] {
  const found = new Set(outputs.filter((name) => initializers.get(name)?.fourBits));
  const visit = (list: readonly Node[]): void => {
    for (const node of list) {
      for (const name of node.inputs)
        if (initializers.get(name)?.fourBits && !READERS.has(node.operator)) found.add(name);
      for (const attribute of node.attributes.values())
        if (attribute.kind === "graph") {
          visit(attribute.value.nodes);
          for (const name of attribute.value.outputs) if (initializers.get(name)?.fourBits) found.add(name);
        }
    }
  };
  visit(nodes);
  return [...found];
}
