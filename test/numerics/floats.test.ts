import { expect } from "chai";
import { arithmeticOf, convert } from "../../src/numerics/arithmetic.ts";
import { cast } from "../../src/numerics/cast.ts";
import { DType, dtypeName, floatFormat, type Word } from "../../src/numerics/dtype.ts";
import { ExactSum } from "../../src/numerics/exactSum.ts";
import { applyOperation } from "../../src/program/expression.ts";
import { Op, type OpName } from "../../src/program/operations.ts";
import { buildMpfrOracle, type MpfrOracle } from "../../testkit/numerics/mpfr/oracle.ts";
import { edgeWords, floatPairs } from "../../testkit/numerics/floatWords.ts";
import { Prng } from "../../testkit/random/prng.ts";

const HALVES = [DType.float16, DType.bfloat16] as const;
const PAIRS = 20_000;

const view = new DataView(new ArrayBuffer(8));

/** The value of a float64 word, -0 read as +0. */
function double(word: Word): number {
  view.setBigUint64(0, word);
  return view.getFloat64(0) + 0;
}

/** The word of a number, with one zero and one NaN. */
function doubleWord(value: number): Word {
  if (Number.isNaN(value)) return 0x7ff8000000000000n;
  view.setFloat64(0, value + 0);
  return view.getBigUint64(0);
}

const HARDWARE: Partial<Record<OpName, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => (b === 0 && a !== 0 ? Math.sign(a) * Infinity : a / b),
  fmod: (a, b) => a % b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  neg: (a) => -a,
  abs: (a) => Math.abs(a),
  sign: (a) => Math.sign(a),
  sqrt: (a) => Math.sqrt(a),
  floor: (a) => Math.floor(a),
  ceil: (a) => Math.ceil(a),
};

describe("float64 primitives", () => {
  for (const [name, hardware] of Object.entries(HARDWARE) as [OpName, (a: number, b: number) => number][]) {
    it(`${name} gives the hardware's bits`, () => {
      for (const [a, b] of floatPairs(new Prng(Op[name]), DType.float64, PAIRS)) {
        const got = applyOperation(Op[name], DType.float64, a, b, 0n);
        const want = doubleWord(hardware(double(a), double(b)));
        if (got !== want)
          expect.fail(`(${double(a)}, ${double(b)}): ${double(got)}, the hardware says ${double(want)}`);
      }
    });
  }

  it("comparisons are the hardware's", () => {
    for (const [a, b] of floatPairs(new Prng(1), DType.float64, PAIRS)) {
      const [x, y] = [double(a), double(b)];
      const got = (["eq", "lt", "le"] as const).map((name) => applyOperation(Op[name], DType.float64, a, b, 0n));
      expect(got).to.deep.equal([x === y, x < y, x <= y].map(BigInt));
    }
  });

  it("casts to float32 are the hardware's, casts from it exact", () => {
    for (const [a] of floatPairs(new Prng(2), DType.float64, PAIRS)) {
      const rounded = cast(a, DType.float64, DType.float32);
      expect(double(cast(rounded, DType.float32, DType.float64))).to.deep.equal(Math.fround(double(a)) + 0);
    }
  });

  it("casts to integers truncate and saturate", () => {
    for (const [a] of floatPairs(new Prng(3), DType.float64, PAIRS)) {
      const x = double(a);
      const want = Number.isNaN(x)
        ? 0n
        : Math.abs(x) >= 2 ** 63
          ? x > 0
            ? 2n ** 63n - 1n
            : -(2n ** 63n)
          : BigInt(Math.trunc(x));
      expect(cast(a, DType.float64, DType.int64)).to.equal(want);
    }
  });

  it("an exact sum is that of terms that cancel, rounded once", () => {
    const sum = new ExactSum(arithmeticOf(DType.float64));
    for (const value of [1e300, 1, -1e300, 2 ** -1074, 2 ** -53]) sum.add(doubleWord(value));
    expect(double(sum.round())).to.equal(1 + 2 ** -52); // a tie but for the smallest number
  });
});

describe("float16 and bfloat16", () => {
  let oracle: MpfrOracle | undefined;

  before(function () {
    const built = buildMpfrOracle();
    if ("missing" in built) {
      console.log(`      ${built.missing}`);
      this.skip();
    } else oracle = built;
  });
  after(() => oracle?.close());

  for (const dtype of HALVES) {
    const { format } = arithmeticOf(dtype);
    const widen = (word: Word): Word => convert(word, dtype, DType.float32);
    const compare = (name: OpName, pairs: readonly (readonly [Word, Word])[]): void => {
      const operands = pairs.map(([a, b]) => [widen(a), widen(b)] as const);
      const wanted = oracle!.evaluate(Op[name], operands, format);
      pairs.forEach(([a, b], k) => {
        const got = widen(applyOperation(Op[name], dtype, a, b, 0n));
        // MPFR has a zero of each sign under a quotient; here there is one.
        const byZero = name === "div" && operands[k]![1] === 0n;
        if (got !== wanted[k] && !byZero) expect.fail(`${name}(${a}, ${b}) = ${got}, MPFR says ${wanted[k]}`);
      });
    };

    for (const name of ["add", "sub", "mul", "div", "pow"] as const) {
      it(`${dtypeName(dtype)} ${name} is correctly rounded`, () => {
        const pairs = floatPairs(new Prng(dtype), dtype, name === "pow" ? 4_000 : PAIRS);
        // The special cases of pow are C's, with one zero; MPFR has two.
        compare(name, name === "pow" ? pairs.filter(([a, b]) => widen(a) !== 0n && widen(b) !== 0n) : pairs);
      });
    }

    it(`${dtypeName(dtype)} unary functions are correctly rounded`, () => {
      const prng = new Prng(dtype);
      const words = [...edgeWords(dtype), ...Array.from({ length: 1_500 }, () => prng.bits(16))];
      const names = ["sqrt", "exp", "log", "tanh", "sigmoid", "erf", "expm1", "log1p", "sin", "cos", "tan"] as const;
      const others = ["asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"] as const;
      for (const name of [...names, ...others])
        compare(
          name,
          words.map((word) => [word, 0n] as const),
        );
    });

    it(`${dtypeName(dtype)} exponentials of all inputs are correctly rounded`, () => {
      compare(
        "exp",
        Array.from({ length: 2 ** 16 }, (_, a) => [BigInt(a), 0n] as const),
      );
    });
  }

  it("every word survives the way through float32 and float64", () => {
    for (const dtype of HALVES)
      for (let bits = 0n; bits < 2n ** 16n; bits++) {
        const word = arithmeticOf(dtype).canonical(bits);
        for (const wide of [DType.float32, DType.float64])
          expect(cast(cast(word, dtype, wide), wide, dtype)).to.equal(word);
      }
  });

  it("casts from float32 to float16 are the engine's, where it has them", function () {
    const { f16round } = Math as { f16round?: (x: number) => number };
    if (f16round === undefined) this.skip();
    for (const [a] of floatPairs(new Prng(9), DType.float32, PAIRS)) {
      const x = double(convert(a, DType.float32, DType.float64));
      expect(double(convert(cast(a, DType.float32, DType.float16), DType.float16, DType.float64))).to.deep.equal(
        f16round(x) + 0,
      );
    }
    for (const [a] of floatPairs(new Prng(10), DType.float64, PAIRS)) {
      const want = f16round(double(a)) + 0;
      expect(double(convert(cast(a, DType.float64, DType.float16), DType.float16, DType.float64))).to.deep.equal(want);
    }
  });

  it("an exact sum is rounded once: not to float32 first", () => {
    const word = (value: number): Word => convert(doubleWord(value), DType.float64, DType.float16);
    const sum = new ExactSum(arithmeticOf(DType.float16));
    for (const value of [2048, 1]) sum.add(word(value));
    sum.addProduct(word(2 ** -14), word(2 ** -14));
    // 2049 is halfway between 2048 and 2050; in float32 what is above it would be lost.
    expect(sum.round()).to.equal(word(2050));
    expect(floatFormat(DType.float16).nan).to.equal(0x7e00n);
  });
});
