import { expect } from "chai";
import { insideOf, usualRange, type Box } from "../../src/native/inputRange.ts";
import { bytesOfNumbers, numbersOf, roundedTo } from "../../src/native/elements.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { DType, type DType as DTypeCode } from "../../src/numerics/dtype.ts";

const box = (dtype: DTypeCode, low: number, high: number): Box => [{ name: "x", dtype, low, high }];
const bytes = (dtype: DTypeCode, ...values: number[]) => [bytesOfNumbers(Float64Array.from(values), dtype)];

describe("the box of a calibration", () => {
  it("insideOf_valuesWithin_areGivenBack", () => {
    for (const [dtype, low, high, values] of [
      [DType.float32, -1, 1, [-1, 0, 1]],
      [DType.float32, 0.5, 1, [0.5, 1]],
      [DType.float32, -1, -0.5, [-1, -0.5]],
      [DType.float32, 0, 0, [0, 0]],
      [DType.float16, -1, 1, [-1, 0.5, 1]],
      [DType.int64, 0, 30_521, [0, 30_521]],
      [DType.uint8, 0, 255, [0, 255]],
    ] as const)
      expect(insideOf(box(dtype, low, high), bytes(dtype, ...values))).to.deep.equal(bytes(dtype, ...values));
  });

  it("insideOf_minusZeroOrAnotherTrue_isCanonical", () => {
    const minusZero = [new Uint8Array(Float32Array.of(1, -0, -1).buffer)];
    for (const [low, high] of [
      [-1, 1],
      [-2, 3],
    ] as const)
      expect(insideOf(box(DType.float32, low, high), minusZero)).to.deep.equal(bytes(DType.float32, 1, 0, -1));
    expect(insideOf(box(DType.bool, 0, 1), [Uint8Array.of(0, 1, 7)])).to.deep.equal([Uint8Array.of(0, 1, 1)]);
  });

  it("insideOf_float32AtItsEnds_isAsTheirNumbers", () => {
    const prng = new Prng(1);
    const number = (): number => Math.fround((prng.below(2_001) - 1_000) * 2 ** (prng.below(41) - 20));
    for (let n = 0; n < 2_000; n++) {
      const [value, a, b] = [number(), number(), number()];
      for (const [low, high] of [
        [Math.min(a, b), Math.max(a, b)],
        [Math.min(value, a), value],
        [value, Math.max(value, b)],
      ] as const) {
        const found = insideOf(box(DType.float32, low, high), bytes(DType.float32, value));
        expect(typeof found !== "string", `${value} in ${low} to ${high}`).to.equal(value >= low && value <= high);
      }
    }
  });

  it("insideOf_aValueOutside_namesInputAndRange", () => {
    for (const [dtype, value] of [
      [DType.float32, 1.0000001],
      [DType.float64, -1.0000001],
      [DType.float16, 1.01],
      [DType.bfloat16, -2],
      [DType.int64, 2],
      [DType.int8, -2],
      [DType.uint8, 2],
    ] as const)
      expect(insideOf(box(dtype, -1, 1), bytes(dtype, 0, value)), String(dtype)).to.include("x (");
  });

  it("insideOf_nanOrInfinity_isOutside", () => {
    for (const dtype of [DType.float32, DType.float64, DType.float16, DType.bfloat16])
      for (const value of [NaN, Infinity, -Infinity])
        for (const values of [
          [value, 0],
          [0, value],
          [0, value, 0],
        ])
          expect(insideOf(box(dtype, -1, 1), bytes(dtype, ...values)), `${dtype} ${value}`).to.be.a("string");
  });

  it("roundedTo_anyType_isANumberOfTheType", () => {
    expect(roundedTo(0.1, DType.float32)).to.equal(Math.fround(0.1));
    expect(roundedTo(1 / 3, DType.bfloat16)).to.equal(0.333984375);
    expect(roundedTo(2.6, DType.int32)).to.equal(3);
    expect([...numbersOf(Uint8Array.of(0, 0x3c), DType.float16)]).to.deep.equal([1]);
  });

  it("usualRange_eachType_hasItsValues", () => {
    const range = (dtype: DTypeCode) => {
      const { low, high } = usualRange({ name: "x", dtype });
      return [low, high];
    };
    expect(range(DType.float16)).to.deep.equal([-1, 1]);
    expect(range(DType.uint8)).to.deep.equal([0, 255]);
    expect(range(DType.int8)).to.deep.equal([-128, 127]);
    expect(range(DType.int64)).to.deep.equal([0, 15]);
    expect(range(DType.bool)).to.deep.equal([0, 1]);
  });
});
