import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { outputTensors } from "../../../src/examine/compare/compare.ts";
import { startChainVerifier } from "../../../src/examine/audit/chainVerifier.ts";
import { drawSamples } from "../../../src/examine/audit/draw.ts";
import { ElementAuditor, type Verdict } from "../../../src/examine/audit/elementAuditor.ts";
import { seededRandom } from "../../../src/examine/audit/random.ts";
import { summarise } from "../../../src/examine/audit/summary.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { knownProgram } from "../../../src/dispute/run/execution.ts";
import { decodeOutputs } from "../../../src/parties/requester/decodeOutputs.ts";
import { parseDescription } from "../../../src/parties/requester/description.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { modelOf, type Experiment } from "../../../testkit/onnx/agreement.ts";
import { agreesWithinCounts as agrees } from "../../../testkit/onnx/boundedAgreement.ts";
import type { AttributeValue } from "../../../testkit/onnx/onnxBuilder.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { RandomTensors } from "../../../testkit/random/tensors.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

type Attributes = Record<string, AttributeValue>;
const { int64, float32 } = DType;

function one(
  op: string,
  operands: readonly TensorData[],
  attributes: Attributes,
  outputs: readonly DType[],
  initializers: Record<string, TensorData> = {},
): Experiment {
  const given = Object.fromEntries(operands.map((tensor, k) => [`x${k}`, tensor]));
  const names = outputs.map((_, k) => `y${k}`);
  const inputs = [...Object.keys(given), ...Object.keys(initializers)];
  return {
    opset: 17,
    operands: given,
    initializers,
    nodes: [{ op, inputs, outputs: names, attributes }],
    outputs: Object.fromEntries(names.map((name, k) => [name, outputs[k]!])),
  };
}

const bools = (values: readonly number[]): TensorData => ({
  dtype: DType.bool,
  shape: [values.length],
  bytes: Uint8Array.from(values),
});

describe("results whose size depends on the data", () => {
  const random = (seed: number) => new RandomTensors(new Prng(seed));

  it("nonZero_hasItsPlacesWithinTheCount", async () => {
    for (const [seed, shape] of [[7], [1], [3, 4], [2, 3, 5], [37]].entries()) {
      const x = random(seed).integer(DType.int32, shape, -1, 1);
      await agrees(one("NonZero", [x], {}, [int64]), `[${shape.join()}]`);
      await agrees(one("NonZero", [{ ...x, bytes: x.bytes.map(() => 0) }], {}, [int64]), "zeros");
    }
    await agrees(one("NonZero", [floatTensor([0, -0, 1e-40, NaN, 2])], {}, [int64]), "floats");
  });

  it("compress_keepsSlicesOrElements", async () => {
    const x = random(1).float([3, 5]);
    for (const condition of [
      [1, 0, 1],
      [0, 0, 0],
      [1, 1, 1],
      [0, 1],
    ]) {
      const given = [x, bools(condition)];
      await agrees(one("Compress", given, { axis: 0 }, [float32]), condition.join());
      await agrees(one("Compress", given, { axis: -1 }, [float32]), condition.join());
      await agrees(one("Compress", given, {}, [float32]), condition.join());
    }
  });

  it("unique_hasAllItsOutputs_sortedOrNot", async () => {
    for (const [seed, sorted] of [1, 0, 1, 0].entries()) {
      const x = random(seed).integer(int64, [2, 7], -3, 3);
      await agrees(one("Unique", [x], { sorted }, [int64, int64, int64, int64]), `${sorted}`);
      const floats = floatTensor([2, 1, 1, 3, 4, 3, -0, 0]);
      await agrees(one("Unique", [floats], { sorted }, [float32, int64, int64, int64]), `${sorted}`);
    }
  });

  const suppression = (seed: number, most: number, isCentred: number): Experiment => {
    const r = random(seed);
    const [batches, classes, count] = [r.int(1, 2), r.int(1, 3), r.int(1, 12)];
    return one(
      "NonMaxSuppression",
      [r.float([batches, count, 4], 0, 1), r.float([batches, classes, count], 0, 1)],
      { center_point_box: isCentred },
      [int64],
      { most: int64Tensor([most]), threshold: floatTensor([0.3]), least: floatTensor([0.25]) },
    );
  };

  it("nonMaxSuppression_choosesTheBoxesOfOnnxruntime", async () => {
    for (let seed = 0; seed < 12; seed++) await agrees(suppression(seed, 1 + (seed % 5), seed % 2), `seed ${seed}`);
    // More than there are boxes.
    await agrees(suppression(40, 1000, 0), "all");
  });

  it("theFastExecutor_givesTheSame_andTheVerifierAgrees", async () => {
    const verifier = await startChainVerifier(createCallChain);
    const x = random(5).integer(DType.int32, [4, 6], -1, 1);
    for (const experiment of [
      one("NonZero", [x], {}, [int64]),
      one("Compress", [floatTensor([1, 2, 3]), bools([1, 0, 1])], {}, [float32]),
      one("Unique", [x], {}, [DType.int32, int64, int64, int64]),
      suppression(3, 3, 0),
    ]) {
      const model = compile(readModel(modelOf(experiment)), { shapes: {} });
      const inputs = model.inputs.map(({ name }) => experiment.operands[name]!.bytes);
      const tensors = executeReference(model, inputs);
      const executor = await createExecutor(model);
      const fast = await executor.run(inputs);
      expect(fast.tensors.map((tensor) => Buffer.from(tensor).toString("hex"))).to.deep.equal(
        tensors.map((tensor) => Buffer.from(tensor).toString("hex")),
      );
      await executor.close();
      const drawn = seededRandom(3);
      const execution = { ...knownProgram(model), inputs, trace: new Trace(model.program, tensors) };
      const auditor = new ElementAuditor(verifier, execution, drawn);
      const verdicts: Verdict[] = [];
      for (const sample of drawSamples(model, 0, drawn)) verdicts.push(await auditor.judge(sample));
      expect(summarise(verdicts).clean).to.equal(true);
    }
    await verifier.close();
  }).timeout(120_000);

  it("theCount_isAnOutputBesideTheResult", () => {
    const x = random(3).integer(DType.int32, [4, 3], 0, 1);
    const { outputs } = compile(readModel(modelOf(one("NonZero", [x], {}, [int64]))), { shapes: {} });
    expect(outputs).to.deep.equal([
      { name: "y0", dtype: int64, shape: [2, 12], bounded: { axis: 1, count: "y0.count" } },
      { name: "y0.count", dtype: int64, shape: [1] },
    ]);
  });

  it("aDescription_saysTheBound_andDecodedOutputsAreWithinTheCount", () => {
    const experiment = one("NonZero", [int64Tensor([0, 5, 0, 7])], {}, [int64]);
    const model = compile(readModel(modelOf(experiment)), { shapes: {} });
    const description = parseDescription(JSON.stringify(describeProgram(knownProgram(model))));
    expect(description.outputs[0]!.bounded).to.deep.equal({ axis: 1, count: "y0.count" });
    const tensors = executeReference(model, [experiment.operands["x0"]!.bytes]);
    const bytes = outputTensors(model, tensors).map((output, k) => [k, output.bytes] as const);
    const { shape, data } = decodeOutputs(description, new Map(bytes)).get("y0")!;
    expect(shape).to.deep.equal([1, 2]);
    expect([...data].map(Number)).to.deep.equal([1, 3]);
  });
});
