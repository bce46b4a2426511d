import type { Model, Node, TensorData, ValueInfo } from "../model/onnx/model.ts";
import { DType } from "../numerics/dtype.ts";
import { elementCount } from "../model/onnx/model.ts";
import { floatTensor } from "../model/onnx/tensorData.ts";
import type { Prng } from "../base/prng.ts";
import { randomBytes, randomNumbers } from "./product/randomNumbers.ts";

/** A model, and what it is executed on. */
type SelfTestModel = { model: Model; inputs: Uint8Array[] };

/** The dimensions of a product with enough rows, terms and columns for onnxruntime to compute it. */
const [ROWS, INNER, COLUMNS] = [4, 96, 64];

/** The number of columns few enough to leave a product to our own kernels. */
const FEW = 8;

/** The terms and columns in products with a vector, also computed by our own kernels. */
const [VECTOR_TERMS, VECTOR_COLUMNS] = [177, 95];

/** How many products of each kind: floats by a constant, floats by an input, bytes by a constant. */
const PRODUCTS = 2;
const MAX_TERMS = 16_000;
const [MANY_ROWS, MANY_TERMS, MANY_COLUMNS] = [
  [1, 4, 7, 13, 40],
  [2, 33, 64, 200, 600],
  [1, 8, 17, 33, 100],
];

type Parts = {
  nodes: Node[];
  inputs: [string, TensorData][];
  weights: [string, TensorData][];
  outputs: ValueInfo[];
};

/** Builds a small network, and separate products with random shapes and numbers. */
export function selfTestModel(prng: Prng): SelfTestModel {
  const parts: Parts = { nodes: [], inputs: [], weights: [], outputs: [] };
  addNetwork(parts, prng);
  addProducts(parts, prng);
  const { nodes, inputs, weights, outputs } = parts;
  return {
    model: {
      source: "self test",
      irVersion: 8,
      opsets: new Map([["", 17]]),
      graph: {
        name: "self test",
        inputs: inputs.map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
        outputs,
        initializers: new Map(weights),
        nodes,
      },
    },
    inputs: inputs.map(([, { bytes }]) => bytes),
  };
}

/**
 * Adds plain and quantised products, with a Softmax between two products. The operands are small fractions with many
 * magnitudes.
 */
function addNetwork({ nodes, inputs, weights, outputs }: Parts, prng: Prng): void {
  const fractions = (shape: readonly number[]): TensorData =>
    floatTensor(
      Array.from({ length: elementCount(shape) }, () => (prng.below(2_003) - 1_001) / (3 + prng.below(17) ** 3)),
      shape,
    );
  nodes.push(
    node("MatMul", ["x", "w"], ["product"]),
    node("Softmax", ["product"], ["probabilities"]),
    node("MatMul", ["probabilities", "v"], ["narrow"]),
    node("DynamicQuantizeLinear", ["x"], ["left", "leftScale", "leftZero"]),
    node("DynamicQuantizeLinear", ["w"], ["right", "rightScale", "rightZero"]),
    node("MatMulInteger", ["left", "right", "leftZero", "rightZero"], ["integers"]),
  );
  nodes.push(
    node("MatMul", ["vector", "byRows"], ["vectorByRows"]),
    node("Transpose", ["byColumns"], ["turned"]),
    node("MatMul", ["vector", "turned"], ["vectorByColumns"]),
  );
  inputs.push(["vector", fractions([1, VECTOR_TERMS])]);
  weights.push(
    ["byRows", fractions([VECTOR_TERMS, VECTOR_COLUMNS])],
    ["byColumns", fractions([VECTOR_COLUMNS, VECTOR_TERMS])],
  );
  for (const name of ["vectorByRows", "vectorByColumns"])
    outputs.push({ name, dtype: DType.float32, shape: [1, VECTOR_COLUMNS] });
  inputs.push(["x", fractions([ROWS, INNER])]);
  weights.push(["w", fractions([INNER, COLUMNS])], ["v", fractions([COLUMNS, FEW])]);
  outputs.push(
    { name: "narrow", dtype: DType.float32, shape: [ROWS, FEW] },
    { name: "integers", dtype: DType.int32, shape: [ROWS, COLUMNS] },
  );
}

/** Adds products of floats and of bytes; no product reads another. */
function addProducts({ nodes, inputs, weights, outputs }: Parts, prng: Prng): void {
  const floats = (shape: readonly number[]): TensorData =>
    floatTensor([...randomNumbers(elementCount(shape), prng)], shape);
  const bytes = (shape: readonly number[]): TensorData => ({
    ...{ dtype: DType.uint8, shape },
    bytes: randomBytes(elementCount(shape), prng),
  });
  for (let k = 0; k < PRODUCTS; k++) {
    for (const kind of ["weighted", "plain", "bytes"] as const) {
      const { rows, inner, columns } = randomShape(prng);
      const [left, right, product] = [`${kind}Left${k}`, `${kind}Right${k}`, `${kind}${k}`];
      const make = kind === "bytes" ? bytes : floats;
      inputs.push([left, make([rows, inner])]);
      (kind === "plain" ? inputs : weights).push([right, make([inner, columns])]);
      const zeros = kind === "bytes" ? [`${left}Zero`, `${right}Zero`] : [];
      for (const name of zeros) weights.push([name, bytes([])]);
      nodes.push(node(kind === "bytes" ? "MatMulInteger" : "MatMul", [left, right, ...zeros], [product]));
      outputs.push({ name: product, dtype: kind === "bytes" ? DType.int32 : DType.float32, shape: [rows, columns] });
    }
  }
}

function randomShape(prng: Prng): { rows: number; inner: number; columns: number } {
  for (;;) {
    const [rows, inner, columns] = [prng.pick(MANY_ROWS), prng.pick(MANY_TERMS), prng.pick(MANY_COLUMNS)];
    if (rows * inner * columns <= MAX_TERMS) return { rows, inner, columns };
  }
}

const node = (operator: string, inputs: readonly string[], outputs: readonly string[]): Node => ({
  ...{ name: outputs[0]!, operator, domain: "", inputs, outputs },
  attributes: new Map(),
});
