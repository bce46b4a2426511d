import { expect } from "chai";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import { outputTensors } from "../../src/examine/compare/compare.ts";
import { NativeModelError, NativeRuntimeError } from "../../src/native/errors.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { classifierBytes, classifierSpec } from "../../testkit/models/classifier.ts";
import { openBoth } from "../../testkit/native/openedModel.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { runOnnxruntime } from "../../testkit/onnx/onnxruntime.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { rejection } from "../../testkit/rejection.ts";

const random = (count: number, seed = 1): number[] => {
  const prng = new Prng(seed);
  return Array.from({ length: count }, () => prng.below(2_001) / 1_000 - 1);
};

describe("a model in native onnxruntime", () => {
  it("outputsAndDecidingTensors_classifier_areThoseOfPlainOnnxruntimeAndExactExecution", async () => {
    const file = classifierBytes();
    const { native, exact, compiled, deciding, close } = await openBoth(file);
    expect(deciding).to.deep.equal(["logits"]);
    const x = floatTensor(random(32), [1, 32]);
    const result = await native.run([x.bytes]);
    const plain = await runOnnxruntime(file, new Map([["x", x]]));
    expect(result.outputs[0]).to.deep.equal(plain.get("class")!.bytes);
    const executor = await createExecutor(compiled);
    const { tensors } = await executor.run([x.bytes]);
    await executor.close();
    expect(result.outputs[0]).to.deep.equal(outputTensors(compiled, tensors)[0]!.bytes);

    const own = await exact.run([x.bytes]);
    expect(own.outputs[0]).to.deep.equal(result.outputs[0]);
    const [a, b] = [result.deciding.get("logits")!, own.deciding.get("logits")!];
    expect(a.dims).to.deep.equal(b.dims).and.deep.equal([1, 10]);
    a.data.forEach((value, i) => expect(value).to.be.closeTo(b.data[i]!, 1e-5));
    await close();
  });

  it("run_boundInputAndPictureOfBytes_isAsTheModelOnFloats", async () => {
    const file = buildModel({
      inputs: [
        { name: "x", dtype: DType.float32, shape: [1, 3, 4, 5] },
        { name: "w", dtype: DType.float32, shape: [1, 3, 1, 1] },
      ],
      outputs: [{ name: "y", dtype: DType.int64, shape: [1, 4, 5] }],
      nodes: [
        { op: "Mul", inputs: ["x", "w"], outputs: ["scores"] },
        { op: "ArgMax", inputs: ["scores"], outputs: ["y"], attributes: { axis: 1, keepdims: 0 } },
      ],
    });
    const w = floatTensor([1, -0.5, 0.75], [1, 3, 1, 1]);
    const picture = { input: "x", layout: "NHWC", scale: 1 / 255, mean: [0.5, 0.25, 0.125], std: [0.5] } as const;
    const { native, close } = await openBoth(file, {
      bound: new Map([["w", w]]),
      uint8: [{ ...picture, reverseChannels: true }],
    });
    const prng = new Prng(3);
    const bytes = Uint8Array.from({ length: 60 }, () => prng.below(256));
    const result = await native.run([bytes]);
    const floats = Array.from({ length: 60 }, (_, k) => {
      const [channel, pixel] = [Math.floor(k / 20), k % 20];
      const scaled = Math.fround(bytes[3 * pixel + 2 - channel]! * Math.fround(1 / 255));
      return Math.fround(Math.fround(scaled - picture.mean[channel]!) / 0.5);
    });
    const x = floatTensor(floats, [1, 3, 4, 5]);
    const plain = await runOnnxruntime(
      file,
      new Map([
        ["x", x],
        ["w", w],
      ]),
    );
    expect(result.outputs[0]).to.deep.equal(plain.get("y")!.bytes);
    await close();
  });

  it("run_decisionsAppended_areThoseOfExactExecution", async () => {
    const spec = classifierSpec();
    const outputs = [{ name: "logits", dtype: DType.float32, shape: [1, 10] }];
    const file = buildModel({ ...spec, outputs, nodes: spec.nodes.slice(0, 3) });
    for (const decide of [{ kind: "argmax" }, { kind: "top", k: 3 }, { kind: "round", decimals: 1 }] as const) {
      const { native, exact, deciding, close } = await openBoth(file, { decide: { logits: decide } });
      const x = floatTensor(random(32, 2), [1, 32]).bytes;
      expect((await native.run([x])).outputs, decide.kind).to.deep.equal((await exact.run([x])).outputs);
      expect(deciding).not.to.be.empty;
      await close();
    }
  });

  it("open_outputOfFloats_isRefusedByName", async () => {
    const spec = classifierSpec();
    const file = buildModel({ ...spec, outputs: [...spec.outputs, { name: "logits", dtype: DType.float32 }] });
    const error = await rejection(openBoth(file));
    expect(error).to.be.instanceOf(NativeModelError);
    expect(error.message).to.include("the output logits is no decision");
  });

  it("run_anotherShapeThanTheProgramHas_failsWithATypedError", async () => {
    const { native, signature, close } = await openBoth(classifierBytes());
    const changed = signature.outputs[0] as { shape: readonly number[] };
    changed.shape = [2];
    const error = await rejection(native.run([floatTensor(random(32)).bytes]));
    expect(error).to.be.instanceOf(NativeRuntimeError);
    await close();
  });
});
