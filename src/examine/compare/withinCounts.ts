import { dtypeBytes } from "../../numerics/dtype.ts";
import type { TensorData } from "../../model/onnx/model.ts";
import type { TensorInfo } from "../../program/compiled.ts";
import { cutAlong } from "../../program/cutAlong.ts";

/** Returns the outputs in the model's form: a bounded output is cut to the count, and the counts are omitted. */
export function withinCounts(outputs: readonly (TensorInfo & TensorData)[]): (TensorInfo & TensorData)[] {
  const byName = new Map(outputs.map((output) => [output.name, output] as const));
  const counts = new Set(outputs.flatMap(({ bounded }) => (bounded === undefined ? [] : [bounded.count])));
  return outputs.flatMap((output) => {
    if (counts.has(output.name)) return [];
    const { bounded, ...rest } = output;
    if (bounded === undefined) return [rest];
    const { bytes } = byName.get(bounded.count)!;
    const count = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true));
    return [{ ...rest, ...cutAlong(output.bytes, output.shape, bounded.axis, count, dtypeBytes(output.dtype)) }];
  });
}
