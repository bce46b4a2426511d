import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isDecided } from "../../../src/model/decision/decision.ts";
import { appendDecisions } from "../../../src/model/decision/appendDecision.ts";
import { decidedFile } from "../../../src/model/decision/decidedFile.ts";
import { ValueNameError } from "../../../src/model/decision/errors.ts";
import { findDecisions } from "../../../src/compiler/decisions/findDecisions.ts";
import { withOutputs } from "../../../src/model/decision/withOutputs.ts";
import { plainOutputs } from "../../../src/native/plain/plainRun.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { ModelFormatError } from "../../../src/model/onnx/errors.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { lstmTagger } from "../../../testkit/models/exports/programs.ts";
import { writeInTwoFiles } from "../../../testkit/onnx/dataFile.ts";
import { buildModel } from "../../../testkit/onnx/onnxBuilder.ts";

const floats = ({ bytes }: TensorData): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
const integers = ({ bytes }: TensorData): number[] => [...new BigInt64Array(Uint8Array.from(bytes).buffer)].map(Number);

/** The place of the first of the largest values of each row of the last axis. */
function largestPlaces(tensor: TensorData): number[] {
  const [values, row] = [floats(tensor), tensor.shape.at(-1)!];
  return Array.from({ length: values.length / row }, (_, r) => {
    const own = values.subarray(r * row, (r + 1) * row);
    return own.indexOf(Math.max(...own));
  });
}

const branches = (): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [2] }],
    outputs: [{ name: "y", dtype: DType.bool }],
    nodes: [
      { op: "Exp", inputs: ["x"], outputs: ["e"] },
      { op: "Greater", inputs: ["e", "limit"], outputs: ["y"] },
    ],
    initializers: { limit: floatTensor([1, 2]) },
  });

describe("withOutputs", () => {
  it("valuesOfTheGraph_becomeOutputsOfPlainOnnxruntime", async () => {
    const x = floatTensor([0.5, -1]);
    const outputs = await plainOutputs(withOutputs(branches(), ["e", "limit", "x", "y", "e"]), new Map([["x", x]]));
    expect([...outputs.keys()]).to.have.members(["y", "e", "limit", "x"]);
    expect([...floats(outputs.get("limit")!)]).to.deep.equal([1, 2]);
    expect([...floats(outputs.get("e")!)].map((value, i) => (value > i + 1 ? 1 : 0))).to.deep.equal([
      ...outputs.get("y")!.bytes,
    ]);
  });

  it("decidingTensorOfAModel_givesTheModelsOwnDecision", async () => {
    const { bytes, inputs } = lstmTagger();
    const [, tags] = findDecisions(readModel(bytes)).outputs;
    if (tags === undefined || !isDecided(tags)) throw new Error("tags are not decided");
    const [{ tensors }] = tags.decisions as [(typeof tags.decisions)[0]];
    const outputs = await plainOutputs(withOutputs(bytes, tensors), inputs);
    expect(integers(outputs.get("tags")!)).to.deep.equal(largestPlaces(outputs.get(tensors[0]!)!));
  });

  it("weightsInAnotherFile_stayThere", async () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-"));
    try {
      const { bytes, inputs } = catalogued("ppocr2_cls");
      const path = join(folder, "model.onnx");
      writeInTwoFiles(path, bytes());
      const own = readFileSync(path);
      const model = readModel(path);
      const name = model.graph.outputs[0]!.name;
      const decide = { [name]: { kind: "argmax" } } as const;
      const [decided] = findDecisions(appendDecisions(model, decide)).outputs;
      if (decided === undefined || !isDecided(decided)) throw new Error("the class is not decided");
      const file = withOutputs(decidedFile(own, model, decide), decided.decisions[0]!.tensors);
      expect(file.length).to.be.below(own.length + 1000);
      const beside = join(folder, "decided.onnx");
      writeFileSync(beside, file);
      const outputs = await plainOutputs(beside, inputs());
      expect(integers(outputs.get(decided.name)!)).to.deep.equal(largestPlaces(outputs.get(name)!));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("nameOfNoValue_isRefused", () => {
    expect(() => withOutputs(branches(), ["nothing"])).to.throw(ValueNameError, '"nothing"');
    expect(() => withOutputs(branches(), [""])).to.throw(ValueNameError);
    expect(() => withOutputs(Uint8Array.of(1, 2, 3), [])).to.throw(ModelFormatError);
  });
});
