import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import type { Prng } from "../random/prng.ts";

/** Where a random cache's rows are read. */
const READERS = ["joined", "before", "after", "equal", "late", "product", "turned"] as const;

const small = (prng: Prng, count: number): number[] => Array.from({ length: count }, () => (prng.below(41) - 20) / 8);

/**
 * A run with a cache whose masked rows are written by each item: no rows, one, or many. Random steps read the cache
 * before the change, after the change, or too late to change the cache in place. `t` is carried too, to be guessed.
 */
export function randomCaches(
  prng: Prng,
  items: number,
): { model: CompiledModel; inputs: RunInputs; guessed: number[] } {
  const [heads, rows, size] = [1 + prng.below(3), 2 + prng.below(9), 1 + prng.below(6)];
  const g = new GraphBuilder();
  const int64 = (...values: number[]): string => g.constant(int64Tensor(values));
  const outputs: string[] = [];
  const output = (of: string): void => void outputs.push(g.node("Identity", [of]));
  const mask = g.node("Reshape", ["mask", int64(1, rows, 1)]);
  const own = g.node("Reshape", [g.node("Add", ["x", "t"]), int64(1, 1, size)]);
  const row = g.node("Expand", [own, int64(heads, 1, size)]);
  const joined = g.node("Concat", ["cache", row], { axis: 1 });
  const last = g.node("Slice", [joined, int64(rows), int64(rows + 1), int64(1)]);
  const value = prng.pick([own, last]);
  const next = g.node("Where", [mask, value, "cache"]);
  const weights = g.constant(floatTensor(small(prng, size * 3), [size, 3]));
  const readers = READERS.filter(() => prng.below(3) === 0);
  for (const reader of readers) {
    if (reader === "joined") output(g.node("MatMul", [joined, "q"]));
    else if (reader === "before") output(g.node("MatMul", ["cache", "q"]));
    else if (reader === "after") output(g.node("MatMul", [next, "q"]));
    else if (reader === "equal") output(g.node("Neg", [g.node("Where", [mask, value, "cache"])]));
    else if (reader === "late") output(g.node("Mul", ["cache", g.node("ReduceMax", [next], { keepdims: 0 })]));
    else if (reader === "product") output(g.node("MatMul", ["cache", weights]));
    else output(g.node("Sqrt", [g.node("Abs", [g.node("Transpose", [joined], { perm: [1, 2, 0] })])]));
  }
  g.nodes.push({ op: "Identity", inputs: [next], outputs: ["next"] });
  g.nodes.push({ op: "Mul", inputs: [g.node("Add", ["t", "x"]), g.scalar(0.5)], outputs: ["t_next"] });
  const float = (name: string, shape: readonly number[]) => ({ name, dtype: DType.float32, shape });
  const bytes = buildModel({
    inputs: [
      ...[float("x", [1, size]), float("q", [size, 1]), { name: "mask", dtype: DType.bool, shape: [rows] }],
      ...[float("cache", [heads, rows, size]), float("t", [1, size])],
    ],
    outputs: ["next", "t_next", ...outputs].map((name) => ({ name, dtype: DType.float32 })),
    nodes: g.nodes,
    initializers: g.initializers,
  });
  const model = compile(readModel(bytes), {
    shapes: {},
    run: {
      each: ["x", "q", "mask"],
      carried: { cache: "next", t: "t_next" },
      eachOutputs: outputs,
      lastOutputs: ["next"],
    },
  });
  const often = 1 + prng.below(rows);
  const given: Readonly<Record<string, Uint8Array>> = {
    x: floatTensor(small(prng, items * size)).bytes,
    q: floatTensor(small(prng, items * size)).bytes,
    mask: Uint8Array.from({ length: items * rows }, () => Number(prng.below(often) === 0)),
    cache: floatTensor(small(prng, heads * rows * size)).bytes,
    t: floatTensor(small(prng, size)).bytes,
  };
  const inputs = model.inputs.map(({ name }) => given[name]!);
  const { source } = model.program.inputs[model.inputs.findIndex(({ name }) => name === "t")]!;
  return {
    model,
    inputs: new RunInputs(model.program.inputs, { items, firstItem: 0 }, inputs),
    guessed: source?.kind === "carried" ? [source.checkpoint] : [],
  };
}
