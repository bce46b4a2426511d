import { dtypeBytes } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../onnx/model.ts";
import type { TensorInfo } from "../../program/compiled.ts";

/** The outputs as the model has them: of a bounded one, as much as its count says; the counts are left out. */
export function withinCounts(outputs: readonly (TensorInfo & TensorData)[]): (TensorInfo & TensorData)[] {
  const byName = new Map(outputs.map((output) => [output.name, output] as const));
  const counts = new Set(outputs.flatMap(({ bounded }) => (bounded === undefined ? [] : [bounded.count])));
  return outputs.flatMap((output) => {
    if (counts.has(output.name)) return [];
    const { bounded, ...rest } = output;
    if (bounded === undefined) return [rest];
    const { bytes } = byName.get(bounded.count)!;
    const count = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true));
    return [{ ...rest, ...cut(output, bounded.axis, count) }];
  });
}

/** The first elements along an axis. */
function cut({ dtype, shape, bytes }: TensorData, axis: number, count: number): Pick<TensorData, "shape" | "bytes"> {
  const inner = dtypeBytes(dtype) * elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const [from, to] = [shape[axis]! * inner, count * inner];
  const result = new Uint8Array(outer * to);
  for (let k = 0; k < outer; k++) result.set(bytes.subarray(k * from, k * from + to), k * to);
  return { shape: shape.map((dim, d) => (d === axis ? count : dim)), bytes: result };
}
