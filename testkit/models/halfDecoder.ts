/** The least decoder: one head of attention over a cache, in float16, with other names and types than most have. */
import { numberWord } from "../../src/numerics/numbers.ts";
import { DType, writeWord } from "../../src/numerics/dtype.ts";
import { elementCount } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

const [VOCABULARY, WIDTH] = [24, 8];

/**
 * The bytes of the model: input_ids and attention_mask, int32, with past_key_0 and past_value_0, [batch, 1, past, 8],
 * to logits, [batch, 1, 24], and present_key_0 and present_value_0; all of float16. It takes one token at a time.
 */
export function halfDecoder(): Uint8Array {
  const g = new GraphBuilder();
  const prng = new Prng(3);
  const half = (shape: readonly number[], values: (k: number) => number): string => {
    const bytes = new Uint8Array(2 * elementCount(shape));
    for (let k = 0; k < elementCount(shape); k++)
      writeWord(bytes, k, DType.float16, numberWord(values(k), DType.float16));
    return g.constant({ dtype: DType.float16, shape, bytes });
  };
  const weights = (...shape: number[]): string => half(shape, () => prng.uint32() / 2 ** 31 - 1);
  const row = g.constant(int64Tensor([1, 1, 1, WIDTH]));
  const table = weights(VOCABULARY, WIDTH);
  const word = g.node("Gather", [table, "input_ids"]);
  const [q, ...made] = [0, 1, 2].map(() =>
    g.node("Reshape", [g.node("MatMul", [word, weights(WIDTH, WIDTH)]), row]),
  ) as [string, string, string];
  ["key", "value"].forEach((part, k) =>
    g.nodes.push({
      op: "Concat",
      inputs: [`past_${part}_0`, made[k]!],
      outputs: [`present_${part}_0`],
      attributes: { axis: 2 },
    }),
  );
  const away = g.node("Sub", [half([], () => 1), g.node("Cast", ["attention_mask"], { to: DType.float16 })]);
  const scores = g.node("MatMul", [q, g.node("Transpose", ["present_key_0"], { perm: [0, 1, 3, 2] })]);
  const masked = g.node("Add", [scores, g.node("Mul", [away, half([], () => -65_504)])]);
  const mixed = g.node("MatMul", [g.node("Softmax", [masked], { axis: -1 }), "present_value_0"]);
  const sum = g.node("Add", [word, g.node("Reshape", [mixed, g.constant(int64Tensor([1, 1, WIDTH]))])]);
  const columns = g.node("Transpose", [table], { perm: [1, 0] });
  g.nodes.push({ op: "MatMul", inputs: [sum, columns], outputs: ["logits"] });
  const F = DType.float16;
  const cache = (name: string, length: string) => ({ name, dtype: F, shape: ["batch", 1, length, WIDTH] });
  return buildModel({
    inputs: [
      { name: "input_ids", dtype: DType.int32, shape: ["batch", 1] },
      { name: "attention_mask", dtype: DType.int32, shape: ["batch", "total"] },
      cache("past_key_0", "past"),
      cache("past_value_0", "past"),
    ],
    outputs: [
      { name: "logits", dtype: F, shape: ["batch", 1, VOCABULARY] },
      cache("present_key_0", "total"),
      cache("present_value_0", "total"),
    ],
    nodes: g.nodes,
    initializers: g.initializers,
  });
}
