import { expect } from "chai";
import {
  DType,
  dtypeBytes,
  dtypeName,
  isSigned,
  type DType as DTypeCode,
  type Word,
} from "../../src/numerics/dtype.ts";
import * as integer from "../../src/numerics/integer.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { INTEGER_TYPES, integerWord, integerWords } from "../../testkit/numerics/integerWords.ts";

/** Stores a number or bigint as the machine does: a typed array of the type. */
const STORE: Record<number, (value: bigint) => bigint> = {
  [DType.uint8]: (v) => BigInt(Uint8Array.of(Number(BigInt.asUintN(32, v)))[0]!),
  [DType.int8]: (v) => BigInt(Int8Array.of(Number(BigInt.asUintN(32, v)))[0]!),
  [DType.uint16]: (v) => BigInt(Uint16Array.of(Number(BigInt.asUintN(32, v)))[0]!),
  [DType.int16]: (v) => BigInt(Int16Array.of(Number(BigInt.asUintN(32, v)))[0]!),
  [DType.int32]: (v) => BigInt(Int32Array.of(Number(BigInt.asUintN(32, v)))[0]!),
  [DType.uint32]: (v) => BigInt(Uint32Array.of(Number(BigInt.asUintN(32, v)))[0]!),
  [DType.int64]: (v) => BigInt64Array.of(v)[0]!,
  [DType.uint64]: (v) => BigUint64Array.of(v)[0]!,
};

type Operation = (a: Word, b: Word, dtype: DTypeCode) => Word;

/** Checks an operation on all pairs of 8-bit values and on edge-weighted pairs of the wider types. */
function check(operation: Operation, expected: (a: bigint, b: bigint, dtype: DTypeCode) => bigint): void {
  for (const dtype of INTEGER_TYPES) {
    for (const [a, b] of pairs(dtype)) {
      const got = operation(a, b, dtype);
      const want = expected(a, b, dtype);
      if (got !== want) expect.fail(`${dtypeName(dtype)}: (${a}, ${b}) gives ${got}, expected ${want}`);
    }
  }
}

function* pairs(dtype: DTypeCode): Generator<[bigint, bigint]> {
  if (dtypeBytes(dtype) === 1) {
    const low = isSigned(dtype) ? -128n : 0n;
    for (let a = low; a < low + 256n; a++) for (let b = low; b < low + 256n; b++) yield [a, b];
    return;
  }
  const edges = integerWords(dtype);
  for (const a of edges) for (const b of edges) yield [a, b];
  const prng = new Prng(dtype);
  for (let n = 0; n < 20_000; n++) yield [integerWord(prng, dtype), integerWord(prng, dtype)];
}

const width = (dtype: DTypeCode): bigint => BigInt(8 * dtypeBytes(dtype));

describe("integer", () => {
  it("add, sub, mul and neg wrap as the machine's typed arrays do", () => {
    check(integer.add, (a, b, dtype) => STORE[dtype]!(a + b));
    check(integer.sub, (a, b, dtype) => STORE[dtype]!(a - b));
    check(integer.mul, (a, b, dtype) => STORE[dtype]!(a * b));
    check(
      (a, _, dtype) => integer.neg(a, dtype),
      (a, _, dtype) => STORE[dtype]!(-a),
    );
  });

  it("div truncates towards zero; by zero it is 0; min / -1 is min", () => {
    check(integer.div, (a, b, dtype) => {
      if (b === 0n) return 0n;
      const magnitude = (a < 0n ? -a : a) / (b < 0n ? -b : b);
      return STORE[dtype]!(a < 0n === b < 0n ? magnitude : -magnitude);
    });
    expect(integer.div(-128n, -1n, DType.int8)).to.equal(-128n);
    expect(integer.div(-(2n ** 63n), -1n, DType.int64)).to.equal(-(2n ** 63n));
  });

  it("mod takes the divisor's sign and fmod the dividend's; both complete the quotient; by zero they are 0", () => {
    const sameSign = (remainder: bigint, of: bigint): boolean => remainder === 0n || remainder < 0n === of < 0n;
    for (const dtype of INTEGER_TYPES) {
      for (const [a, b] of pairs(dtype)) {
        const floored = integer.mod(a, b, dtype);
        const truncated = integer.fmod(a, b, dtype);
        if (b === 0n) {
          if (floored !== 0n || truncated !== 0n) expect.fail(`${dtypeName(dtype)}: ${a} by 0`);
          continue;
        }
        const size = b < 0n ? -b : b;
        const small = (r: bigint): boolean => r < size && -r < size && (a - r) % b === 0n;
        const ok = small(floored) && small(truncated) && sameSign(floored, b) && sameSign(truncated, a);
        if (!ok) expect.fail(`${dtypeName(dtype)}: ${a} by ${b} leaves ${floored} and ${truncated}`);
      }
    }
  });

  it("abs of the smallest value is itself; sign, min, max and comparisons are those of the values", () => {
    check(
      (a, _, dtype) => integer.abs(a, dtype),
      (a, _, dtype) => STORE[dtype]!(a < 0n ? -a : a),
    );
    check(
      (a, _, dtype) => integer.sign(a, dtype),
      (a) => BigInt(Math.sign(Number(a))),
    );
    check(integer.min, (a, b) => (a <= b ? a : b));
    check(integer.max, (a, b) => (a >= b ? a : b));
    check(integer.eq, (a, b) => BigInt(a === b));
    check(integer.lt, (a, b) => BigInt(a < b));
    check(integer.le, (a, b) => BigInt(a <= b));
    expect(integer.abs(-(2n ** 31n), DType.int32)).to.equal(-(2n ** 31n));
  });

  it("and, or, xor and not act on each bit", () => {
    check(integer.and, (a, b, dtype) => STORE[dtype]!(a & b));
    check(integer.or, (a, b, dtype) => STORE[dtype]!(a | b));
    check(integer.xor, (a, b, dtype) => STORE[dtype]!(a ^ b));
    check(
      (a, _, dtype) => integer.not(a, dtype),
      (a, _, dtype) => STORE[dtype]!(-1n - a),
    );
  });

  it("shifts by the width or more, or by less than 0, give 0; shr of a signed value rounds down", () => {
    const inside = (count: bigint, dtype: DTypeCode): boolean => count >= 0n && count < width(dtype);
    check(integer.shl, (a, b, dtype) => (inside(b, dtype) ? STORE[dtype]!(a * 2n ** b) : 0n));
    check(integer.shr, (a, b, dtype) =>
      inside(b, dtype) ? (a - (((a % 2n ** b) + 2n ** b) % 2n ** b)) / 2n ** b : 0n,
    );
  });

  it("bool is closed: logical and, or, xor and not", () => {
    const { bool } = DType;
    for (const [a, b] of [
      [0n, 0n],
      [0n, 1n],
      [1n, 0n],
      [1n, 1n],
    ] as const) {
      expect(integer.and(a, b, bool)).to.equal(BigInt(a === 1n && b === 1n));
      expect(integer.or(a, b, bool)).to.equal(BigInt(a === 1n || b === 1n));
      expect(integer.xor(a, b, bool)).to.equal(BigInt(a !== b));
      expect(integer.not(a, bool)).to.equal(1n - a);
      expect(integer.eq(a, b, bool)).to.equal(BigInt(a === b));
    }
  });

  it("reads an operand outside its type modulo 2^bits", () => {
    expect(integer.wrap(200n, DType.int8)).to.equal(-56n);
    expect(integer.wrap(-1n, DType.uint64)).to.equal(2n ** 64n - 1n);
    expect(integer.wrap(256n, DType.bool)).to.equal(1n);
    expect(integer.max(200n, 0n, DType.int8)).to.equal(0n);
  });
});
