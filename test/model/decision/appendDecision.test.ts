import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { appendDecisions } from "../../../src/model/decision/appendDecision.ts";
import { decidedFile } from "../../../src/model/decision/decidedFile.ts";
import { decideText, parseDecideSpec } from "../../../src/model/decision/decideSpec.ts";
import { isDecided, type Decision } from "../../../src/model/decision/decision.ts";
import { DecideError } from "../../../src/model/decision/errors.ts";
import { findDecisions } from "../../../src/compiler/decisions/findDecisions.ts";
import { readMargin } from "../../../src/model/decision/margin.ts";
import { withOutputs } from "../../../src/model/decision/withOutputs.ts";
import { outputTensors } from "../../../src/examine/compare/compare.ts";
import { plainOutputs } from "../../../src/native/plain/plainRun.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { prepareModel } from "../../../src/compiler/wraps/modelSpec.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { executeBoth } from "../../../testkit/models/executeBoth.ts";
import { lstmTagger } from "../../../testkit/models/exports/programs.ts";
import { buildModel, type ModelSpec } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";

const floats = ({ bytes }: TensorData): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);

const ROWS = 5;
const CLASSES = 7;
const random = new RandomTensors(new Prng(3));
/** Floats whose products are rounded. */
const rounded = (shape: readonly number[]): TensorData =>
  floatTensor(
    [...floats(random.float(shape, -1, 1))].map((value) => value / 0.7),
    shape,
  );
const WEIGHTS = rounded([4, CLASSES]);

/** Scores of classes, [rows, 7], float32 or float16. */
const scores = (more: Partial<ModelSpec> = {}, dtype: DType = DType.float32): Uint8Array =>
  buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [ROWS, 4] }],
    outputs: [
      { name: "scores", dtype, shape: [ROWS, CLASSES] },
      { name: "same", dtype: DType.float32, shape: [ROWS, 4] },
    ],
    nodes: [
      { op: "MatMul", inputs: ["x", "w"], outputs: ["product"] },
      { op: "Cast", inputs: ["product"], outputs: ["scores"], attributes: { to: dtype } },
      { op: "Identity", inputs: ["x"], outputs: ["same"] },
    ],
    initializers: { w: WEIGHTS },
    ...more,
  });

const integers = ({ bytes }: TensorData): number[] => [...new BigInt64Array(Uint8Array.from(bytes).buffer)].map(Number);

/** The rows of plain onnxruntime's scores. */
function rowsOf(tensor: TensorData): number[][] {
  const values = floats(tensor);
  return Array.from({ length: ROWS }, (_, r) => [...values.subarray(r * CLASSES, (r + 1) * CLASSES)]);
}

/** Places from the largest value on; of equal ones the first. */
const sortedPlaces = (row: readonly number[]): number[] =>
  row.map((_, i) => i).sort((a, b) => row[b]! - row[a]! || a - b);

/** Half to even, as numpy rounds. */
function halfToEven(value: number): number {
  const low = Math.floor(value);
  const nearest = value - low === 0.5 ? low + Math.abs(low % 2) : Math.round(value);
  // An integer has one zero.
  return nearest + 0;
}

/** What the decisions are by JavaScript's own arithmetic. */
const REFERENCES: Record<string, (rows: number[][]) => number[]> = {
  argmax: (rows) => rows.map((row) => sortedPlaces(row)[0]!),
  top3: (rows) => rows.flatMap((row) => sortedPlaces(row).slice(0, 3)),
  "round=2": (rows) => rows.flat().map((value) => halfToEven(Math.fround(value * 100))),
  "round=0": (rows) => rows.flat().map(halfToEven),
};

describe("appendDecisions", () => {
  for (const [text, reference] of Object.entries(REFERENCES))
    it(`${text}_isWhatAReferenceGives_inPlainOnnxruntimeAndExactly`, async () => {
      const bytes = scores();
      const own = readModel(bytes);
      const decide = { scores: parseDecideSpec(text) };
      const model = appendDecisions(own, decide);
      const [output, other] = findDecisions(model).outputs;
      if (output === undefined || !isDecided(output)) throw new Error("it is not decided");
      expect(other).to.deep.equal({ name: "same", decisions: [] });
      const name = `scores_${text.replace("=", "")}`;
      expect(model.graph.outputs.map((each) => each.name)).to.deep.equal([name, "same"]);

      const compiled = compile(model, { shapes: {} });
      const deciding = output.decisions.flatMap(({ tensors }) => tensors);
      const file = withOutputs(decidedFile(bytes, own, decide), deciding);
      for (let k = 0; k < 3; k++) {
        const x = rounded([ROWS, 4]);
        const plain = await plainOutputs(file, new Map([["x", x]]));
        const values = new Map(
          deciding.map((value) => {
            return [value, { dims: plain.get(value)!.shape, data: floats(plain.get(value)!) }];
          }),
        );
        expect(integers(plain.get(name)!)).to.deep.equal(reference(rowsOf(plain.get("scores")!)));
        const margins = output.decisions.map((decision: Decision) => readMargin(decision, values));
        // Float32 is off by far less here: where the margin is thick, plain execution gives the exact answer.
        for (const { margin, scale } of margins) expect(margin).to.be.above(1e-5 * Math.min(scale, 1));
        const outputs = outputTensors(compiled, await executeBoth(compiled, [x.bytes]));
        expect([...outputs[0]!.bytes]).to.deep.equal([...plain.get(name)!.bytes]);
      }
    });

  it("floatsOf16Bits_areWidenedFirst", async () => {
    const bytes = scores({}, DType.float16);
    const own = readModel(bytes);
    const x = rounded([ROWS, 4]);
    for (const text of ["argmax", "top2", "round=1"]) {
      const decide = { scores: parseDecideSpec(text) };
      const name = `scores_${text.replace("=", "")}`;
      const model = appendDecisions(own, decide);
      const [output] = findDecisions(model).outputs;
      expect(output).to.have.property("decisions");
      const compiled = compile(model, { shapes: {} });
      const outputs = outputTensors(compiled, await executeBoth(compiled, [x.bytes]));
      const plain = await plainOutputs(decidedFile(bytes, own, decide), new Map([["x", x]]));
      expect([...outputs[0]!.bytes]).to.deep.equal([...plain.get(name)!.bytes]);
    }
  });

  it("olderOperatorSets_haveTheirOwnForms", async () => {
    const x = rounded([ROWS, 4]);
    for (const opset of [9, 10]) {
      const bytes = scores({ opset });
      const own = readModel(bytes);
      for (const text of ["argmax", "top2"]) {
        const decide = { scores: parseDecideSpec(text) };
        const plain = await plainOutputs(decidedFile(bytes, own, decide), new Map([["x", x]]));
        const expected = rowsOf(plain.get("scores")!).flatMap((row) =>
          sortedPlaces(row).slice(0, text === "top2" ? 2 : 1),
        );
        expect(integers(plain.get(`scores_${text}`)!)).to.deep.equal(expected);
        expect(() => compile(appendDecisions(own, decide), { shapes: {} })).not.to.throw();
      }
      expect(() => appendDecisions(own, { scores: { kind: "round", decimals: 2 } })).to.throw(DecideError, "set 11");
    }
  });

  it("specs_readAsTheyAreWritten", () => {
    for (const text of ["argmax", "top1", "top1000", "round=0", "round=9"])
      expect(decideText(parseDecideSpec(text))).to.equal(text);
    for (const text of ["", "max", "top", "top0", "top-1", "round", "round=10", "round=x", "argmax "])
      expect(() => parseDecideSpec(text), text).to.throw(DecideError, "expected argmax");
  });

  it("whatCannotBeDecided_isRefusedByName", () => {
    const model = readModel(scores());
    const argmax = { kind: "argmax" } as const;
    expect(() => appendDecisions(model, { y: argmax })).to.throw(DecideError, 'its outputs are "scores", "same"');
    expect(() => appendDecisions(model, { scores: { kind: "top", k: 8 } })).to.throw(DecideError, "7 places");
    const { bytes } = lstmTagger();
    expect(() => appendDecisions(readModel(bytes), { tags: argmax })).to.throw(DecideError, "it is int64");
    const taken = appendDecisions(model, { scores: argmax });
    const again = { ...taken, graph: { ...taken.graph, outputs: model.graph.outputs } };
    expect(() => appendDecisions(again, { scores: argmax })).to.throw(DecideError, '"scores_argmax" already');
    const decoder = { bind: {}, uint8: [], decide: { scores: argmax }, decoder: { slots: 4 } };
    expect(() => prepareModel(model, decoder)).to.throw(DecideError, "decoder");
  });

  it("scalarOutput_hasNoPlaces", () => {
    const model = readModel(
      buildModel({
        inputs: [{ name: "x", dtype: DType.float32, shape: [3] }],
        outputs: [{ name: "y", dtype: DType.float32, shape: [] }],
        nodes: [{ op: "ReduceSum", inputs: ["x"], outputs: ["y"], attributes: { keepdims: 0 } }],
        initializers: { unused: floatTensor([1]) },
      }),
    );
    expect(() => appendDecisions(model, { y: { kind: "argmax" } })).to.throw(DecideError, "no axis");
  });
});
