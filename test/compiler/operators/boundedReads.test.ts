import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { agreesWithinCounts } from "../../../testkit/onnx/boundedAgreement.ts";
import type { NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const { int64, float32, bool } = DType;
const random = (seed: number): RandomTensors => new RandomTensors(new Prng(seed));
const node = (op: string, inputs: string[], output: string, attributes: NodeSpec["attributes"] = {}): NodeSpec => ({
  ...{ op, inputs, attributes },
  outputs: [output],
});

/** Where x is not 0, as rows [count, rank], and the values there. */
const PLACES: readonly NodeSpec[] = [
  node("NonZero", ["x"], "columns"),
  node("Transpose", ["columns"], "rows", { perm: [1, 0] }),
  node("GatherND", ["x", "rows"], "values"),
];

const CONSTANTS: Readonly<Record<string, TensorData>> = {
  two: floatTensor([2], []),
  first: int64Tensor([0], []),
  second: int64Tensor([1]),
  third: int64Tensor([2]),
  line: int64Tensor([-1]),
  none: int64Tensor([0]),
  three: int64Tensor([3]),
};

const after = (nodes: readonly NodeSpec[], outputs: Record<string, DType>, x: TensorData): Experiment => ({
  ...{ opset: 18, operands: { x }, initializers: CONSTANTS, outputs },
  nodes: [...PLACES, ...nodes],
});

function sparse(seed: number, shape: readonly number[]): TensorData {
  const r = random(seed);
  return floatTensor(
    Array.from({ length: elementCount(shape) }, () => r.int(-1, 2)),
    shape,
  );
}

/** Tensors in which nothing, something and everything is other than 0. */
const GIVEN: readonly TensorData[] = [
  sparse(1, [4, 5]),
  sparse(2, [1, 7]),
  floatTensor([0, 0, 0, 0], [2, 2]),
  floatTensor([3, -1, 2, 5], [2, 2]),
];

async function agree(nodes: readonly NodeSpec[], outputs: Record<string, DType>, what: string): Promise<void> {
  for (const x of GIVEN) await agreesWithinCounts(after(nodes, outputs, x), what);
}

describe("nodes that read results whose size depends on the data", () => {
  it("detections_areGatheredByTheirBoxes_andCutToTheFirst", async () => {
    for (let seed = 0; seed < 6; seed++) {
      const r = random(seed);
      const [classes, count] = [r.int(1, 3), r.int(2, 12)];
      const nodes = [
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], "chosen"),
        node("Gather", ["chosen", "third"], "boxColumn", { axis: 1 }),
        node("Squeeze", ["boxColumn", "second"], "box"),
        node("Gather", ["chosen", "second"], "classColumn", { axis: 1 }),
        node("Reshape", ["classColumn", "line"], "label"),
        node("Gather", ["allBoxes", "box"], "corners"),
        node("Squeeze", ["scores", "none"], "byClass"),
        node("Concat", ["classColumn", "boxColumn"], "pairs", { axis: 1 }),
        node("GatherND", ["byClass", "pairs"], "score"),
        node("Unsqueeze", ["score", "second"], "scoreColumn"),
        node("Concat", ["corners", "scoreColumn"], "detections", { axis: 1 }),
        node("Slice", ["detections", "none", "three", "none"], "best"),
        node("Cast", ["label"], "labels", { to: float32 }),
        node("Shape", ["best"], "size"),
      ];
      const boxes = r.float([1, count, 4], 0, 1);
      await agreesWithinCounts(
        {
          opset: 18,
          operands: { boxes, scores: r.float([1, classes, count], 0, 1), allBoxes: { ...boxes, shape: [count, 4] } },
          initializers: {
            ...CONSTANTS,
            ...{ most: int64Tensor([4]), overlap: floatTensor([0.3]), least: floatTensor([0.2]) },
          },
          nodes,
          outputs: { detections: float32, best: float32, labels: float32, size: int64 },
        },
        `seed ${seed}`,
      );
    }
  });

  it("elementByElement_isComputedWithKnownAndWithBoundedOperands", () =>
    agree(
      [
        node("Mul", ["values", "two"], "twice"),
        node("Div", ["two", "values"], "inverse"),
        node("Add", ["twice", "inverse"], "sum"),
        node("Exp", ["sum"], "power"),
        node("Greater", ["values", "two"], "large"),
        node("Where", ["large", "values", "power"], "y"),
        node("Cast", ["rows"], "places", { to: float32 }),
        node("Softmax", ["places"], "soft", { axis: 1 }),
      ],
      { sum: float32, power: float32, large: bool, y: float32, soft: float32 },
      "elementwise",
    ));

  it("sumsAndExtrema_areOverWhatIsThere", () =>
    agree(
      [
        node("ReduceSum", ["values", "none"], "sum", { keepdims: 0 }),
        node("ReduceL2", ["values", "none"], "norm"),
        node("ReduceSum", ["rows", "second"], "across"),
        node("CumSum", ["values", "first"], "running"),
        node("Size", ["rows"], "size"),
      ],
      { sum: float32, norm: float32, across: int64, running: float32, size: int64 },
      "reductions",
    ));

  it("extremaAndMeans_areOfWhatIsThere", async () => {
    const nodes = [
      node("ReduceMax", ["values", "none"], "max"),
      node("ReduceMin", ["values", "none"], "min"),
      node("ArgMin", ["values"], "at", { axis: 0 }),
      node("ReduceLogSumExp", ["values", "none"], "log"),
      node("Cast", ["rows"], "places", { to: float32 }),
      node("ReduceMean", ["places", "none"], "mean"),
    ];
    const outputs = { max: float32, min: float32, at: int64, log: float32, mean: float32 };
    // Of nothing, onnxruntime refuses the greatest, and has 0 as the mean (numpy: NaN, as here).
    for (const x of GIVEN.filter((_, k) => k !== 2)) await agreesWithinCounts(after(nodes, outputs, x), "extrema");
  });

  it("placesInPlaces_andUpdates_areThoseThatAreThere", () =>
    agree(
      [
        node("Greater", ["values", "two"], "large"),
        node("NonZero", ["large"], "again"),
        node("Compress", ["values", "large"], "kept", { axis: 0 }),
        node("Mul", ["values", "two"], "twice"),
        node("ScatterND", ["x", "rows", "twice"], "written"),
      ],
      { again: int64, kept: float32, written: float32 },
      "places",
    ));

  it("batchesAndRows_areComputedOneByOne", async () => {
    const x = random(9).float([5, 2, 4, 4]);
    const flags = { dtype: bool, shape: [5], bytes: Uint8Array.from([1, 0, 1, 1, 0]) };
    await agreesWithinCounts(
      {
        opset: 18,
        operands: { x, flags },
        initializers: { w: random(3).float([3, 2, 3, 3]), m: random(4).float([12, 6]) },
        nodes: [
          node("Compress", ["x", "flags"], "some", { axis: 0 }),
          node("Conv", ["some", "w"], "conv"),
          node("Relu", ["conv"], "relu"),
          node("Flatten", ["relu"], "flat"),
          node("MatMul", ["flat", "m"], "product"),
          node("GlobalAveragePool", ["relu"], "pooled"),
        ],
        outputs: { relu: float32, product: float32, pooled: float32 },
        rtol: 1e-5,
      },
      "batch",
    );
  });

  it("whatWouldNeedTheSize_isRefusedByName", () => {
    const refused: readonly (readonly [NodeSpec, string])[] = [
      [node("Add", ["values", "other"], "y"), "input 1: has 20 elements where"],
      [node("Gather", ["rows", "first"], "y"), "input 0: has a size along this axis"],
      [node("Reshape", ["rows", "line"], "y"), "keep it a dimension of its own"],
      [node("Concat", ["rows", "rows"], "y", { axis: 0 }), "nothing can be put behind it"],
      [node("TopK", ["values", "second"], "y"), "input 0: has a size that is not known at compile time"],
      [node("Slice", ["rows", "second", "three"], "y"), "take the first ones"],
      [node("Softmax", ["values"], "y"), "compute along another axis"],
      [node("Add", ["values", "others"], "y"), "input 1: has another count than input 0"],
    ];
    for (const [last, why] of refused) {
      const nodes = [
        node("Neg", ["x"], "negated"),
        node("NonZero", ["negated"], "otherColumns"),
        node("Transpose", ["otherColumns"], "otherRows"),
        node("GatherND", ["x", "otherRows"], "others"),
        last,
      ];
      const experiment = after(nodes, { y: float32 }, GIVEN[0]!);
      const bytes = modelOf({ ...experiment, initializers: { ...CONSTANTS, other: random(1).float([20]) } });
      expect(() => compile(readModel(bytes), { shapes: {} }), last.op).to.throw(UnsupportedOperatorError, why);
    }
  });

  it("theFastExecutor_givesTheSame", async () => {
    const nodes = [
      node("Mul", ["values", "two"], "twice"),
      node("ReduceMax", ["twice", "none"], "max"),
      node("Gather", ["columns", "first"], "lines"),
      node("Gather", ["x", "lines"], "chosen"),
      node("ScatterND", ["x", "rows", "twice"], "written"),
    ];
    const experiment = after(nodes, { max: float32, chosen: float32, written: float32 }, GIVEN[0]!);
    const model = compile(readModel(modelOf(experiment)), { shapes: {} });
    const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
    const executor = await createExecutor(model);
    const { tensors } = await executor.run(inputs);
    const hex = (all: readonly Uint8Array[]): string[] => all.map((tensor) => Buffer.from(tensor).toString("hex"));
    expect(hex(tensors)).to.deep.equal(hex(executeReference(model, inputs)));
    await executor.close();
  });
});
