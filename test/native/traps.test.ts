import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../src/compiler/compile.ts";
import { usualRange } from "../../src/native/inputRange.ts";
import { calibrate } from "../../src/native/calibrate.ts";
import { bytesOfNumbers, roundedTo } from "../../src/native/elements.ts";
import { CalibrationError } from "../../src/native/errors.ts";
import { nativeAnswer, type NativeAnswer } from "../../src/native/nativeAnswer.ts";
import { itemSubject } from "../../src/native/nativeSubject.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { buildModel, type ModelSpec, type NodeSpec } from "../../testkit/onnx/onnxBuilder.ts";
import { rejection } from "../../testkit/rejection.ts";

const float = (name: string, ...shape: number[]) => ({ name, dtype: DType.float32, shape });
const node = (op: string, inputs: string[], output: string, attributes: NodeSpec["attributes"] = {}): NodeSpec => ({
  ...{ op, inputs, outputs: [output], attributes },
});
/** Values, and zeros up to so many. */
const padded = (values: readonly number[], count: number): number[] =>
  Array.from({ length: count }, (_, k) => values[k] ?? 0);

/** A sum of sixteen values, rounded. */
const ROUNDED: ModelSpec = {
  inputs: [float("x", 1, 16)],
  outputs: [{ name: "y", dtype: DType.int64, shape: [1, 1] }],
  nodes: [node("MatMul", ["x", "w"], "m"), node("Round", ["m"], "r"), node("Cast", ["r"], "y", { to: DType.int64 })],
  initializers: { w: floatTensor(new Array<number>(16).fill(1), [16, 1]) },
};
/** Two sums of 64 values, and which is larger. */
const weights = Array.from({ length: 128 }, (_, k) => {
  if (k < 16) return [0, 2, 4, 7].includes(k) ? 1 : 0;
  return k % 2 === 0 ? 1 : -1;
});
const CHOSEN: ModelSpec = {
  inputs: [float("x", 1, 64)],
  outputs: [{ name: "y", dtype: DType.int64, shape: [1] }],
  nodes: [node("MatMul", ["x", "w"], "m"), node("ArgMax", ["m"], "y", { axis: 1, keepdims: 0 })],
  initializers: { w: floatTensor(weights, [64, 2]) },
};
/** One input divided by the other, and which quotient is the largest. */
const DIVIDED: ModelSpec = {
  inputs: [float("x", 1, 4), float("y", 1, 4)],
  outputs: [{ name: "e", dtype: DType.int64, shape: [1] }],
  nodes: [node("Div", ["x", "y"], "d"), node("ArgMax", ["d"], "e", { axis: 1, keepdims: 0 })],
};

describe("what native execution must not be trusted with", () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-traps-"))));
  after(() => rmSync(folder, { recursive: true }));

  /** What native execution says of a job, after a calibration in a box of -limit (or 0) to limit. */
  async function answered(spec: ModelSpec, min: number, limit: number, job: number[][]): Promise<NativeAnswer> {
    const path = join(folder, "model.onnx");
    writeFileSync(path, buildModel(spec));
    const own = readModel(path);
    const compiled = compile(own, { shapes: {} });
    const subject = itemSubject({ path, own, bound: new Map(), uint8: [], decide: {} }, own, compiled, { shapes: {} });
    const box = subject.inputs.map((input) => ({
      ...usualRange(input),
      low: roundedTo(min, input.dtype),
      high: roundedTo(limit, input.dtype),
    }));
    const inputs = { given: [], random: 64, search: 256, seed: 1 };
    const found = await calibrate({ subject, modelSha256: "0".repeat(64), box, place: { threads: 1 }, ...inputs });
    expect(found.differing.thick).to.equal(0);
    const exact = await subject.openExact();
    const runtime = await subject.openNative(exact.deciding, { threads: 1 });
    const program = { runtime, calibration: found, outputs: subject.outputs, factor: found.factor };
    const answer = await nativeAnswer(
      program,
      job.map((values, i) => bytesOfNumbers(Float64Array.from(values), subject.inputs[i]!.dtype)),
    );
    await Promise.all([runtime.close(), exact.close()]);
    return answer;
  }

  it("sumsOfLargeValuesThatCancel_areThin_howeverSmallWhatIsLeft", async () => {
    expect((await answered(ROUNDED, -1e8, 1e8, [padded([1e8, 3, -1e8], 16)])).kind).to.equal("thin");
    expect((await answered(CHOSEN, -1e8, 1e8, [padded([1e8, 3, -1e8, 1], 64)])).kind).to.equal("thin");
  });

  it("aBoxInWhichAllOverflows_cannotBeCalibrated", async () => {
    const error = await rejection(answered(CHOSEN, -3e38, 3e38, [padded([1e8, 3, -1e8, 1], 64)]));
    expect(error).to.be.instanceOf(CalibrationError);
    expect(error.message).to.include("--range");
  });

  it("aDivisionOfZeroByZero_isThin", async () => {
    const job = [
      [1, 0.5, 0, 0.2],
      [1, 1, 0, 1],
    ];
    expect((await answered(DIVIDED, 0, 1, job)).kind).to.equal("thin");
  });
});
