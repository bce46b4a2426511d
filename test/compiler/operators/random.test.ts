import { expect } from "chai";
import { compile } from "../../../src/compiler/compile.ts";
import { UnsupportedOperatorError } from "../../../src/compiler/errors.ts";
import { philox } from "../../../src/compiler/operators/philox.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { floatTensor } from "../../../src/model/onnx/tensorData.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { buildModel, type AttributeValue } from "../../../testkit/onnx/onnxBuilder.ts";

const SIZE = 4000;
const INPUTS: Record<string, string[]> = {
  Bernoulli: ["x"],
  RandomNormalLike: ["x"],
  RandomUniformLike: ["x"],
  Dropout: ["x", "ratio", "training"],
};

function draw(op: string, attributes: Record<string, AttributeValue>, seed?: bigint, fill = 0.25): number[] {
  const bytes = buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [SIZE] }],
    outputs: [{ name: "y", dtype: DType.float32 }],
    nodes: [{ op, inputs: INPUTS[op] ?? [], outputs: ["y"], attributes }],
    initializers: {
      ratio: floatTensor([0.5], []),
      training: { dtype: DType.bool, shape: [], bytes: Uint8Array.of(1) },
    },
  });
  const model = compile(readModel(bytes), { shapes: {}, ...(seed === undefined ? {} : { seed }) });
  const tensors = executeReference(model, [floatTensor(new Array<number>(SIZE).fill(fill)).bytes]);
  return [...new Float32Array(tensors.at(-1)!.slice().buffer)];
}

const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
const variance = (values: readonly number[]): number => mean(values.map((v) => (v - mean(values)) ** 2));

describe("random operators", () => {
  it("philox_givesTheKnownAnswersOfItsAuthors", () => {
    const hex = (words: readonly number[]): string => words.map((word) => word.toString(16).padStart(8, "0")).join(" ");
    expect(hex(philox([0, 0, 0, 0], [0, 0]))).to.equal("6627e8d5 e169c58d bc57ac4c 9b00dbd8");
    const ones = [0xffffffff, 0xffffffff];
    expect(hex(philox([...ones, ...ones], ones))).to.equal("408f276d 41c83b0e a20bc7c6 6d5451fd");
    const pi = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
    expect(hex(philox(pi, [0xa4093822, 0x299f31d0]))).to.equal("d16cfe09 94fdcceb 5001e420 24126ea1");
  });

  it("withoutAnySeed_isRefused", () => {
    expect(() => draw("RandomNormal", { shape: [SIZE] })).to.throw(UnsupportedOperatorError, "compile with a seed");
  });

  it("sameSeed_sameNumbers_otherSeed_others", () => {
    const first = draw("RandomNormal", { shape: [SIZE] }, 7n);
    expect(draw("RandomNormal", { shape: [SIZE] }, 7n)).to.deep.equal(first);
    expect(draw("RandomNormal", { shape: [SIZE] }, 1n << 40n)).to.not.deep.equal(first);
  });

  it("aNodesOwnSeed_choosesItsStream", () => {
    const own = draw("RandomUniformLike", { seed: { float: 2.5 } }, 1n);
    expect(draw("RandomUniformLike", { seed: { float: 3 } }, 1n)).to.not.deep.equal(own);
  });

  it("uniform_fillsItsInterval", () => {
    const values = draw("RandomUniform", { shape: [SIZE], low: { float: -1 }, high: { float: 3 } }, 1n);
    expect(Math.min(...values)).to.be.within(-1, -0.98);
    expect(Math.max(...values)).to.be.within(2.98, 3);
    expect(mean(values)).to.be.closeTo(1, 0.1);
  });

  it("normal_hasItsMeanAndScale", () => {
    const values = draw("RandomNormalLike", { mean: { float: 5 }, scale: { float: 2 } }, 1n);
    expect(mean(values)).to.be.closeTo(5, 0.15);
    expect(variance(values)).to.be.closeTo(4, 0.4);
  });

  it("dropoutInTraining_keepsTheRestScaled", () => {
    const values = draw("Dropout", { seed: 5 }, 1n);
    expect(new Set(values)).to.deep.equal(new Set([0, 0.5]));
    expect(mean(values)).to.be.closeTo(0.25, 0.02);
  });

  it("bernoulli_drawsOnesAsOftenAsItsInputSays", () => {
    expect(mean(draw("Bernoulli", {}, 9n, 0.25))).to.be.closeTo(0.25, 0.03);
    expect(mean(draw("Bernoulli", {}, 9n, 1))).to.equal(1);
    expect(mean(draw("Bernoulli", {}, 9n, 0))).to.equal(0);
  });

  it("multinomial_drawsClassesAsOftenAsTheirLogitsSay", () => {
    const bytes = buildModel({
      inputs: [{ name: "x", dtype: DType.float32, shape: [2, 3] }],
      outputs: [{ name: "y", dtype: DType.int32 }],
      nodes: [{ op: "Multinomial", inputs: ["x"], outputs: ["y"], attributes: { sample_size: SIZE } }],
    });
    const model = compile(readModel(bytes), { shapes: {}, seed: 3n });
    const logits = floatTensor([0, Math.log(2), Math.log(5), -Infinity, 0, -Infinity], [2, 3]);
    const drawn = new Int32Array(executeReference(model, [logits.bytes]).at(-1)!.slice().buffer);
    const share = (row: number, wanted: number): number =>
      drawn.subarray(row * SIZE, (row + 1) * SIZE).filter((one) => one === wanted).length / SIZE;
    expect(share(0, 0)).to.be.closeTo(1 / 8, 0.02);
    expect(share(0, 1)).to.be.closeTo(2 / 8, 0.025);
    expect(share(0, 2)).to.be.closeTo(5 / 8, 0.025);
    expect(share(1, 1)).to.equal(1);
  });
});
