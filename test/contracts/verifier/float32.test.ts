import { expect } from "chai";
import type { Hex } from "viem";
import { cast } from "../../../src/numerics/cast.ts";
import { DType, dtypeName, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { exactDot } from "../../../src/numerics/exactSum.ts";
import * as float32 from "../../../src/numerics/float32.ts";
import * as integer from "../../../src/numerics/integer.ts";
import { roundToFloat32 } from "../../../src/numerics/round.ts";
import { AT_LENGTH, itInTime } from "../../../testkit/atLength.ts";
import { EDGE_BITS, float32BitsPair, float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { INTEGER_TYPES, integerWord } from "../../../testkit/numerics/integerWords.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const RANDOM_PAIRS = AT_LENGTH ? 20_000 : 1_250;
const INTEGER_PAIRS = AT_LENGTH ? 2_250 : 140; // of each of 9 types
const BATCH = 500; // small: the simulated chain slows down on large calls

const { viem } = await createCallChain();
const harness = await viem.deployContract("Float32Harness");

/** Operands of `bytes` bytes each, packed big-endian. */
function pack(words: readonly bigint[], bytes: number): Hex {
  return `0x${words
    .map((word) =>
      BigInt.asUintN(8 * bytes, word)
        .toString(16)
        .padStart(2 * bytes, "0"),
    )
    .join("")}`;
}

function unpack(packed: Hex, bytes: number): bigint[] {
  const digits = 2 * bytes;
  return Array.from({ length: (packed.length - 2) / digits }, (_, k) =>
    BigInt(`0x${packed.slice(2 + digits * k, 2 + digits * (k + 1))}`),
  );
}

/** Runs pairs in batches that fit a call's gas and compares each result with the definition's. */
async function compare(
  pairs: readonly (readonly [bigint, bigint])[],
  bytes: number,
  run: (operands: Hex) => Promise<readonly [Hex, bigint, bigint]>,
  definition: (a: Word, b: Word) => Word,
): Promise<void> {
  for (let first = 0; first < pairs.length; first += BATCH) {
    const batch = pairs.slice(first, first + BATCH);
    const [packed] = await run(pack(batch.flat(), bytes));
    const results = unpack(packed, bytes);
    expect(results.length).to.equal(batch.length);
    for (const [k, [a, b]] of batch.entries()) {
      const want = BigInt.asUintN(8 * bytes, definition(a, b));
      if (results[k] !== want)
        expect.fail(
          `(0x${a.toString(16)}, 0x${b.toString(16)}): ` +
            `the chain says 0x${results[k]!.toString(16)}, not 0x${want.toString(16)}`,
        );
    }
  }
}

function floatPairs(seed: number): [bigint, bigint][] {
  const prng = new Prng(seed);
  const edges = EDGE_BITS.map((a): [bigint, bigint] => [BigInt(a), BigInt(prng.pick(EDGE_BITS))]);
  const random = Array.from({ length: RANDOM_PAIRS }, (): [bigint, bigint] => {
    const [a, b] = float32BitsPair(prng);
    return [BigInt(a), BigInt(b)];
  });
  return [...edges, ...random];
}

const { add, sub, mul, div, fmod, sqrt, neg, abs, sign, min, max, floor, ceil, round, eq, lt, le, canonical } = float32;
const FLOAT_OPERATIONS: Record<string, (a: Word, b: Word) => Word> = {
  ...{ add, sub, mul, div, fmod, sqrt, neg, abs, sign, min, max, floor, ceil, round, eq, lt, le, canonical },
  isNaN: (a) => BigInt(float32.isNaN(a)),
  isInfinite: (a) => BigInt(float32.isInfinite(a)),
};

const INTEGER_BINARY = [
  "add",
  "sub",
  "mul",
  "div",
  "mod",
  "fmod",
  "min",
  "max",
  "eq",
  "lt",
  "le",
  "and",
  "or",
  "xor",
  "shl",
  "shr",
] as const;
const INTEGER_UNARY = ["neg", "abs", "sign", "not"] as const;

/** Pairs of a type's words. */
function integerPairs(dtype: DTypeCode, count: number): [bigint, bigint][] {
  const prng = new Prng(dtype);
  const word = (): bigint => (dtype === DType.bool ? BigInt(prng.below(2)) : integerWord(prng, dtype));
  return Array.from({ length: count }, () => [word(), word()]);
}

describe("arithmetic on chain", () => {
  for (const [seed, [name, definition]] of Object.entries(FLOAT_OPERATIONS).entries()) {
    it(`float32 ${name} gives the definition's bits`, async () => {
      await compare(floatPairs(seed), 4, (operands) => harness.read.float32([name, operands]), definition);
    });
  }

  for (const name of [...INTEGER_BINARY, ...INTEGER_UNARY]) {
    it(`integer ${name} gives the definition's words`, async () => {
      for (const dtype of [...INTEGER_TYPES, DType.bool]) {
        const operation = integer[name] as (a: Word, b: Word | DTypeCode, dtype: DTypeCode) => Word;
        const definition = (a: Word, b: Word): Word =>
          (INTEGER_UNARY as readonly string[]).includes(name) ? operation(a, dtype, dtype) : operation(a, b, dtype);
        await compare(
          integerPairs(dtype, INTEGER_PAIRS),
          32,
          (operands) => harness.read.integer([name, BigInt(dtype), operands]),
          definition,
        );
      }
    });
  }

  for (const to of [...INTEGER_TYPES, DType.bool, DType.float32]) {
    itInTime(`cast from every type to ${dtypeName(to)} gives the definition's words`, async () => {
      const run = (from: DTypeCode) => (operands: Hex) =>
        harness.read.integer(["cast", BigInt(from + 256 * to), operands]);
      const floats = [...EDGE_BITS.map(BigInt), ...float32Words(to, 3_000)].map((a): [bigint, bigint] => [a, 0n]);
      await compare(floats, 32, run(DType.float32), (a) => cast(a, DType.float32, to));
      for (const from of [...INTEGER_TYPES, DType.bool]) {
        await compare(integerPairs(from, 400), 32, run(from), (a) => cast(a, from, to));
      }
    });
  }

  itInTime("roundToFloat32 gives the definition's bits for mantissas of up to 256 bits", async () => {
    const prng = new Prng(7);
    for (let batch = 0; batch < 5; batch++) {
      const records = Array.from({ length: 4_000 }, () => {
        const bits = prng.below(257);
        const tail = prng.below(bits + 1);
        const rest = prng.pick([
          0n,
          1n,
          (1n << BigInt(tail)) >> 1n,
          ((1n << BigInt(tail)) >> 1n) + 1n,
          prng.bits(tail),
        ]);
        const mantissa = BigInt.asUintN(256, (prng.bits(bits - tail) << BigInt(tail)) | rest);
        const exponent =
          prng.pick([-150, -149, -126, 104, 128, 0, 1000, -2000]) - prng.below(2) * bits + prng.below(5) - 2;
        return {
          negative: prng.below(2) === 1,
          sticky: mantissa >= 1n << 24n && prng.below(2) === 1,
          exponent,
          mantissa,
        };
      });
      const packed = records.map(
        (r) =>
          `${r.negative ? "01" : "00"}${r.sticky ? "01" : "00"}${pack([BigInt(r.exponent), r.mantissa], 32).slice(2)}`,
      );
      const results = unpack(await harness.read.rounded([`0x${packed.join("")}`]), 4);
      for (const [k, r] of records.entries()) {
        const want = roundToFloat32(r.negative, r.mantissa, r.exponent, r.sticky);
        expect(results[k], `${r.mantissa} * 2^${r.exponent}`).to.equal(want);
      }
    }
  });

  itInTime("an exact dot product gives the definition's bits", async () => {
    const prng = new Prng(20);
    const finite = (bits: number): number =>
      ((bits & 0x7f800000) === 0x7f800000 && prng.below(100) !== 0 ? bits & 0xbfffffff : bits) >>> 0;
    for (const terms of [0, 1, 2, 3, 5, 8, 40, 300, 2000]) {
      const rows = terms === 0 ? 1 : Math.ceil(Math.min(3000, 8000 / terms));
      const pairs: [bigint, bigint][] = [];
      while (pairs.length < rows * terms) {
        const [a, b] = float32BitsPair(prng).map(finite) as [number, number];
        pairs.push([BigInt(a), BigInt(prng.below(4) === 0 ? 0x3f800000 : b)]); // a sum is a dot product with ones
        // Cancels, exactly or nearly.
        if (prng.below(2) === 0) pairs.push([BigInt((a ^ 0x80000000) >>> 0), BigInt((b ^ prng.pick([0, 0, 1])) >>> 0)]);
      }
      const operands = pairs.slice(0, rows * terms);
      const [packed] = await harness.read.dots([pack(operands.flat(), 4), BigInt(terms)]);
      const want = Array.from({ length: rows }, (_, row) => {
        const own = operands.slice(row * terms, (row + 1) * terms);
        return exactDot(
          own.map(([a]) => a),
          own.map(([, b]) => b),
        );
      });
      expect(unpack(packed, 4)).to.deep.equal(want);
    }
  });

  itInTime("ignores bits above the 32nd of a float32 word", async () => {
    const dirty = 2n ** 255n + 0x1_3f80_0000n;
    const [packed] = await harness.read.integer([
      "cast",
      BigInt(DType.float32 + 256 * DType.int32),
      pack([dirty, 0n], 32),
    ]);
    expect(unpack(packed, 32)).to.deep.equal([1n]);
  });
});
