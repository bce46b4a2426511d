import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";

/** A model of one node of another kind. */
const build = (op: string, domain: string): void => {
  const bytes = buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [1, 2, 4] }],
    outputs: [{ name: "y", dtype: DType.float32 }],
    nodes: [{ op, domain, inputs: ["x"], outputs: ["y"] }],
  });
  compile(readModel(bytes), { shapes: {} });
};

describe("operators that are not executed", () => {
  const reasons = [
    ["MaxRoiPool", "", "depends on the data"],
    ["StringNormalizer", "", "tokenise before the model"],
    ["ZipMap", "ai.onnx.ml", "zipmap=False"],
    ["BeamSearch", "com.microsoft", "export one step"],
    ["Conv", "com.microsoft.nchwc", "level extended"],
    ["Unheard", "", "it is not in the table of operators"],
    ["Unheard", "com.example", "com.example.Unheard is not in the table of operators"],
  ] as const;
  for (const [op, domain, reason] of reasons)
    it(`${domain === "" ? op : `${domain}.${op}`}_isRefusedWithItsReason`, () => {
      expect(() => build(op, domain)).to.throw(UnsupportedOperatorError, reason);
    });
});
