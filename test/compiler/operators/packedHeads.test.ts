import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { outputTensors } from "../../../src/examine/compare/compare.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { modelOf } from "../../../testkit/onnx/agreement.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { fused } from "../../../testkit/operators/microsoftCases.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

/** [batch, length, heads * size] several times as [batch, length, heads, parts, size]. */
function pack(parts: readonly TensorData[], heads: number): TensorData {
  const [batch, length, width] = parts[0]!.shape as [number, number, number];
  const size = width / heads;
  const numbers = parts.map(({ bytes }) => new Float32Array(Uint8Array.from(bytes).buffer));
  const values: number[] = [];
  for (let row = 0; row < batch * length * heads; row++)
    for (const part of numbers) values.push(...part.subarray(row * size, (row + 1) * size));
  return floatTensor(values, [batch, length, heads, parts.length, size]);
}

function attentionOf(inputs: Readonly<Record<string, TensorData | undefined>>): Uint8Array {
  const made = fused("MultiHeadAttention", inputs, { num_heads: 2 });
  const model = compile(readModel(modelOf(made)), { shapes: {} });
  const given = model.inputs.map(({ name }) => made.operands[name]!.bytes);
  return outputTensors(model, executeReference(model, given))[0]!.bytes;
}

describe("MultiHeadAttention of packed heads, which onnxruntime has on other devices only", () => {
  const random = new RandomTensors(new Prng(5));
  const [q, k, v] = [0, 1, 2].map(() => random.float([2, 3, 8])) as [TensorData, TensorData, TensorData];

  it("packedQueryKeyValue_isThePlainOne", () => {
    expect(attentionOf({ q: pack([q, k, v], 2) })).to.deep.equal(attentionOf({ q, k, v }));
  });

  it("packedKeyValue_isThePlainOne", () => {
    expect(attentionOf({ q, kv: pack([k, v], 2) })).to.deep.equal(attentionOf({ q, k, v }));
  });
});
