import { expect } from "chai";
import { bindDimensions, DimensionError } from "../../../src/model/onnx/bindDimensions.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";

const model = (...shapes: readonly (readonly (number | string)[])[]) =>
  readModel(
    buildModel({
      inputs: shapes.map((shape, k) => ({ name: `x${k}`, dtype: DType.float32, shape })),
      outputs: [{ name: "y", dtype: DType.float32 }],
      nodes: [{ op: "Identity", inputs: ["x0"], outputs: ["y"] }],
    }),
  );

describe("dimensions by name", () => {
  it("have their size in every input that has them", () => {
    const { graph } = bindDimensions(model(["batch", "sequence"], ["sequence", 4], ["other"]), { sequence: 16 });
    expect(graph.inputs.map(({ shape }) => shape)).to.deep.equal([["batch", 16], [16, 4], ["other"]]);
  });

  it("that no input has are refused, with those that are there", () => {
    const refused = (of: ReturnType<typeof model>, dims: Record<string, number>, why: string): void => {
      expect(() => bindDimensions(of, dims)).to.throw(DimensionError, why);
    };
    refused(model(["a", "b"]), { c: 1 }, 'no input has a dimension "c"; its inputs name "a", "b"');
    refused(model([2]), { c: 1 }, "its inputs name none: give shapes (--shape)");
    refused(model(["a"]), { a: 0 }, 'the dimension "a" cannot be 0');
  });
});
