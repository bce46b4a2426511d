import { expect } from "chai";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { nativeSession } from "../../../src/executor/engine/binding.ts";
import { engineOn, isExact } from "../../../src/executor/engine/byteEngine.ts";
import { onnxEngine } from "../../../src/executor/engine/onnxEngine.ts";
import { byteProductModel } from "../../../src/executor/engine/productModels.ts";
import type { ByteEngine } from "../../../src/executor/engine/matMulEngine.ts";
import { byteZero } from "../../../src/executor/product/byteProduct.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import type { Step } from "../../../src/program/types.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { matMulStep, stepModel } from "../../../testkit/programs/stepModel.ts";

const dtype = DType.int32;
const [ROWS, INNER, COLUMNS] = [13, 50, 9];
const ROOT = `0x${"22".repeat(32)}` as const;
const INT32_LOW = -(2 ** 31);

/** An int32 product whose right factor is a constant. */
function integerMatMul(): Step {
  const step = matMulStep(ROWS, INNER, COLUMNS);
  const [left, right] = step.inputs as [Step["inputs"][number], Step["inputs"][number]];
  return {
    ...step,
    dtype,
    reduceType: dtype,
    inputs: [
      { ...left, dtype },
      { kind: "constant", root: ROOT, dtype, count: right.count },
    ],
  };
}

const integers = (prng: Prng, length: number, low: number, high: number): Int32Array =>
  Int32Array.from({ length }, () => low + prng.below(high - low + 1));
const bytes = (values: Int32Array): Uint8Array => new Uint8Array(values.buffer);

const CASES: Record<string, { left: [number, number]; right: [number, number] }> = {
  signedBytes: { left: [-128, 127], right: [-127, 128] },
  unsignedBytes: { left: [0, 255], right: [0, 255] },
  negativeBytes: { left: [-255, 0], right: [-255, 0] },
  widerOnTheLeft: { left: [-128, 128], right: [-128, 127] },
  anyOnTheLeft: { left: [INT32_LOW, -INT32_LOW - 1], right: [-128, 127] },
  widerOnTheRight: { left: [-128, 127], right: [-1000, 1000] },
};

describe("integer products", () => {
  for (const [name, { left, right }] of Object.entries(CASES)) {
    it(`${name}_haveTheBitsOfTheReference`, async () => {
      const prng = new Prng(5);
      const weights = integers(prng, COLUMNS * INNER, ...right);
      const model = { ...stepModel([integerMatMul()]), constants: new Map([[ROOT, bytes(weights)]]) };
      const inputs = [bytes(integers(prng, ROWS * INNER, ...left))];
      const [expected] = executeReference(model, inputs);
      for (const chunkElements of [undefined, 4 * INNER]) {
        const options = { threads: 1, minEngineWork: 1, ...(chunkElements === undefined ? {} : { chunkElements }) };
        const executor = await createExecutor(model, options);
        const { tensors } = await executor.run(inputs);
        expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
        await executor.close();
      }
    });
  }

  it("uint8RightFactors_giveTheSameBits", async () => {
    const prng = new Prng(6);
    const model = {
      ...stepModel([integerMatMul()]),
      constants: new Map([[ROOT, bytes(integers(prng, COLUMNS * INNER, -128, 127))]]),
    };
    const inputs = [bytes(integers(prng, ROWS * INNER, -7, 248))];
    const [expected] = executeReference(model, inputs);
    const engine = await onnxEngine();
    const unsigned = engineOn(nativeSession(byteProductModel(false), {}), false);
    const executor = await createExecutor(model, { minEngineWork: 1, engine: { ...engine, bytes: unsigned } });
    const { tensors } = await executor.run(inputs);
    expect(Buffer.compare(tensors[0]!, expected!)).to.equal(0);
    await engine.close();
  });

  it("saturatingKernels_areNotTrusted", () => {
    const saturating: ByteEngine = {
      minRight: -128,
      product:
        (left, right, _, out, { rows, columns, inner }) =>
        () => {
          const term = (row: number, column: number, k: number): number =>
            k < inner ? left[row * inner + k]! * ((right[k * columns + column]! << 24) >> 24) : 0;
          for (let index = 0; index < rows * columns; index++) {
            const [row, column] = [Math.floor(index / columns), index % columns];
            out[index] = 0;
            for (let k = 0; k < inner; k += 2) {
              const pair = term(row, column, k) + term(row, column, k + 1);
              out[index]! += Math.max(-(2 ** 15), Math.min(2 ** 15 - 1, pair));
            }
          }
        },
    };
    expect(isExact(saturating)).to.equal(false);
  });

  it("zeroPoint_isFoundWhereAllAreBytesAroundOne", () => {
    expect(byteZero(Int32Array.of(-3, 0, 252))).to.equal(3);
    expect(byteZero(Int32Array.of(7, 255))).to.equal(0);
    expect(byteZero(Int32Array.of(-255))).to.equal(255);
    expect(byteZero(Int32Array.of(-128, 128))).to.equal(undefined);
    expect(byteZero(Int32Array.of(300, 301))).to.equal(undefined);
  });
});
