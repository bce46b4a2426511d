import { expect } from "chai";
import { DType } from "../../src/numerics/dtype.ts";
import { wordNumber } from "../../src/numerics/numbers.ts";
import { bitsText, valueText } from "../../web/value.ts";

const bits64 = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!;
const bits32 = (value: number): bigint => BigInt(new Uint32Array(Float32Array.of(value).buffer)[0]!);

describe("web: numbers of tensors", () => {
  it("floats_areTheNumbersThatTheirBitsStandFor", () => {
    for (const value of [0, 1, -1.5, Math.PI, 5e-324, 2 ** -1022, Number.MAX_VALUE, -Infinity])
      expect(wordNumber(bits64(value), DType.float64)).to.equal(value);
    for (const value of [0.1, -3e-45, 3.4e38].map(Math.fround))
      expect(wordNumber(bits32(value), DType.float32)).to.equal(value);
    expect(wordNumber(0x3c00n, DType.float16)).to.equal(1);
    expect(wordNumber(0x0001n, DType.float16)).to.equal(2 ** -24);
    expect(wordNumber(0xbf80n, DType.bfloat16)).to.equal(-1);
    expect(wordNumber(0x7fc0_0000n, DType.float32)).to.be.NaN;
  });

  it("elements_areShortDecimals", () => {
    expect(valueText(bits32(0.1), DType.float32)).to.equal("0.1");
    expect(valueText(bits32(1 / 3), DType.float32)).to.equal("0.33333334");
    expect(valueText(0x3555n, DType.float16)).to.equal("0.33325");
    expect(valueText(-5n, DType.int8)).to.equal("-5");
    expect(valueText(1n, DType.bool)).to.equal("true");
    expect(valueText(0x7f80_0000n, DType.float32)).to.equal("Infinity");
  });

  it("bits_areAsManyAsTheTypeHas", () => {
    expect(bitsText(-1n, DType.int8)).to.equal("11111111");
    expect(bitsText(bits32(1), DType.float32)).to.equal("00111111100000000000000000000000");
  });
});
