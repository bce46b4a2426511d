import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { compile } from "../../src/compiler/compile.ts";
import { besidePlain } from "../../src/examine/check/besidePlain.ts";
import { differenceOf } from "../../src/examine/compare/difference.ts";
import { compare } from "../../src/examine/compare/compare.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { PlainRefusalError } from "../../src/native/plain/plainRun.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { modelOf, single } from "../../testkit/onnx/agreement.ts";
import { rejection } from "../../testkit/rejection.ts";

const int32 = (value: number) => ({
  ...{ dtype: DType.int32, shape: [1] },
  bytes: new Uint8Array(Int32Array.of(value).buffer),
});

describe("plain onnxruntime beside exact execution", () => {
  it("aModelOfWhichOnnxruntimeDies_leavesTheProcess_andIsARefusal", async function () {
    // The processor's division of the least integer by -1 is a trap on x86 only.
    if (process.arch !== "x64") this.skip();
    const experiment = single("Div", [int32(-(2 ** 31)), int32(-1)], [], {}, DType.int32);
    const bytes = modelOf(experiment);
    const model = compile(readModel(bytes), { shapes: {} });
    const inputs = new Map(Object.entries(experiment.operands));
    const tensors = executeReference(
      model,
      model.inputs.map(({ name }) => inputs.get(name)!.bytes),
    );
    const error = await rejection(compare(bytes, model, inputs, tensors));
    expect(error).to.be.instanceOf(PlainRefusalError);
    expect((error as Error).message).to.include("onnxruntime dies of the model");
  });

  it("integersAreComparedAsIntegers_alsoAbove2To53", () => {
    const tensor = (value: bigint) => ({ ...int64Tensor([0]), bytes: new Uint8Array(BigInt64Array.of(value).buffer) });
    for (const value of [2n ** 53n, -(2n ** 62n), 2n ** 63n - 2n]) {
      const found = differenceOf(tensor(value), tensor(value + 1n));
      expect(found).to.deep.equal({ absolute: 1, ulps: undefined, first: 0 });
    }
    expect(differenceOf(tensor(2n ** 63n - 1n), tensor(-(2n ** 63n))).absolute).to.equal(2 ** 64);
  });

  it("aLargeDifferenceOnARandomInput_isNamed_andRoundingIsNot", async () => {
    const folder = mkdtempSync(join(tmpdir(), "beside-"));
    try {
      const file = join(folder, "model.onnx");
      const of = (op: string, by: number): Uint8Array =>
        modelOf(single(op, [floatTensor([1, 2, 3])], [floatTensor([by])], {}, DType.float32));
      writeFileSync(file, of("Mul", 3));
      const found = (bytes: Uint8Array): Promise<string[] | undefined> =>
        besidePlain(file, compile(readModel(bytes), { shapes: {} }), new Map());
      expect(await found(of("Mul", 3))).to.deep.equal([]);
      expect(await found(of("Mul", 3.0001))).to.deep.equal([]);
      expect((await found(of("Mul", 4)))?.join()).to.match(/^y: up to .* apart, element 0 first$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
