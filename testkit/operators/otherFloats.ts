import { cast } from "../../src/numerics/cast.ts";
import { DType, dtypeBytes, readWord, writeWord } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";

/** A float32 tensor rounded to another type of floats; any other as it is. */
function inType(tensor: TensorData, dtype: DType): TensorData {
  if (tensor.dtype !== DType.float32) return tensor;
  const count = elementCount(tensor.shape);
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  for (let i = 0; i < count; i++)
    writeWord(bytes, i, dtype, cast(readWord(tensor.bytes, i, DType.float32), DType.float32, dtype));
  return { dtype, shape: tensor.shape, bytes };
}

/**
 * Returns an experiment with all float32 tensors converted to another float type.
 * @param kept Names of operands and initializers that stay float32, because the operator fixes their type.
 */
export function experimentIn(experiment: Experiment, dtype: DType, kept: ReadonlySet<string> = new Set()): Experiment {
  const tensors = (all: Readonly<Record<string, TensorData>> = {}): Record<string, TensorData> =>
    Object.fromEntries(
      Object.entries(all).map(([name, tensor]) => [name, kept.has(name) ? tensor : inType(tensor, dtype)]),
    );
  const attribute = (value: AttributeValue): AttributeValue =>
    typeof value === "object" && "tensor" in value ? { tensor: inType(value.tensor, dtype) } : value;
  return {
    ...experiment,
    operands: tensors(experiment.operands),
    initializers: tensors(experiment.initializers),
    nodes: experiment.nodes.map((node) => ({
      ...node,
      attributes: Object.fromEntries(
        Object.entries(node.attributes ?? {}).map(([name, value]) => [name, attribute(value)]),
      ),
    })),
    outputs: Object.fromEntries(
      Object.entries(experiment.outputs).map(([name, type]) => [name, type === DType.float32 ? dtype : type]),
    ),
  };
}
