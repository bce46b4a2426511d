import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { bindInputs } from "../../../src/model/onnx/bindInputs.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { buildModel, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

/** What is known at compile time is computed by other code than what is not: it must be the same. */
describe("constant folding", () => {
  const r = new RandomTensors(new Prng(3));
  const q = r.integer(DType.int8, [16, 40, 3], -128, 127);
  const cases: [string, Record<string, TensorData>, DType, NodeSpec[]][] = [
    [
      "dequantisedByChannel",
      { q, s: r.float([40], 1, 4), z: r.integer(DType.int8, [40], -128, 127) },
      DType.float32,
      [{ op: "DequantizeLinear", inputs: ["q", "s", "z"], outputs: ["y"], attributes: { axis: 1 } }],
    ],
    [
      "dequantisedAndTransposed",
      { q, s: r.float([1], 1, 4) },
      DType.float32,
      [
        { op: "DequantizeLinear", inputs: ["q", "s"], outputs: ["d"] },
        { op: "Transpose", inputs: ["d"], outputs: ["y"], attributes: { perm: [2, 0, 1] } },
      ],
    ],
    [
      "widenedSixteenBits",
      { q: r.integer(DType.uint16, [300, 300], 0, 65_535) },
      DType.float32,
      [{ op: "Cast", inputs: ["q"], outputs: ["y"], attributes: { to: DType.float32 } }],
    ],
    [
      "paddedAndReversed",
      {
        q,
        p: int64Tensor([1, 0, 0, 0, 2, 1]),
        v: r.integer(DType.int8, [], 5, 5),
        s: int64Tensor([-1]),
        e: int64Tensor([-99]),
        a: int64Tensor([1]),
      },
      DType.int8,
      [
        { op: "Pad", inputs: ["q", "p", "v"], outputs: ["w"] },
        { op: "Slice", inputs: ["w", "s", "e", "a", "s"], outputs: ["y"] },
      ],
    ],
    [
      "chosen",
      { c: r.bool([16, 40, 3]), q, o: r.integer(DType.int8, [40, 1], -9, 9) },
      DType.int8,
      [{ op: "Where", inputs: ["c", "q", "o"], outputs: ["y"] }],
    ],
    [
      "largeFloats",
      { x: r.float([64, 70]), y0: r.float([70]) },
      DType.float32,
      [{ op: "Mul", inputs: ["x", "y0"], outputs: ["y"] }],
    ],
    ["scalar", { x: floatTensor([3], []) }, DType.float32, [{ op: "Neg", inputs: ["x"], outputs: ["y"] }]],
  ];
  for (const [name, tensors, dtype, nodes] of cases)
    it(`${name}_isWhatExecutionGives`, () => {
      const inputs = Object.entries(tensors).map(([key, tensor]) => ({ name: key, ...tensor }));
      // Sizes and fill values must be known in both.
      const sizes = new Map(
        Object.entries(tensors).filter(([key, { dtype: type }]) => type === DType.int64 || key === "v"),
      );
      const model = bindInputs(
        readModel(buildModel({ inputs, outputs: [{ name: "y", dtype }], nodes, opset: 18 })),
        sizes,
      );
      const executed = compile(model, { shapes: {} });
      const given = executed.inputs.map((input) => tensors[input.name]!.bytes);
      const { inputs: open } = model.graph;
      const folded = compile(bindInputs(model, new Map(open.map((input) => [input.name, tensors[input.name]!]))), {
        shapes: {},
      });
      expect(Buffer.compare(executeReference(folded, []).at(-1)!, executeReference(executed, given).at(-1)!)).to.equal(
        0,
      );
    });
});
