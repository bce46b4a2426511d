import { expect } from "chai";
import { concatHex, decodeFunctionResult, encodeFunctionData, numberToHex, type Hex } from "viem";
import { arithmeticOf } from "../../../src/numerics/arithmetic.ts";
import { cast } from "../../../src/numerics/cast.ts";
import { DType, dtypeBytes, dtypeName, type DType as DTypeCode, type Word } from "../../../src/numerics/dtype.ts";
import { ExactSum } from "../../../src/numerics/exactSum.ts";
import * as float32 from "../../../src/numerics/float32.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op } from "../../../src/program/operations.ts";
import { UNIVARIATE } from "../../../testkit/numerics/elementaryCases.ts";
import { edgeWords, OTHER_FLOATS } from "../../../testkit/numerics/floatWords.ts";
import { createCallChain } from "../../../testkit/verifier/callChain.ts";

const { add, sub, mul, div, fmod, min, max, eq, lt, le } = float32;
const BINARY = { add, sub, mul, div, fmod, min, max, eq, lt, le };
const CALL_GAS = 2n ** 24n;

const pack = (words: readonly Word[], bytes: number): Hex =>
  concatHex(words.map((word) => numberToHex(word, { size: bytes })));
const unpack = (packed: Hex, bytes: number): Word[] =>
  Array.from({ length: (packed.length - 2) / 2 / bytes }, (_, k) =>
    BigInt(`0x${packed.slice(2 + 2 * bytes * k, 2 + 2 * bytes * (k + 1))}`),
  );
const pairsOf = (dtype: DTypeCode): [Word, Word][] =>
  edgeWords(dtype).flatMap((a) => edgeWords(dtype).map((b): [Word, Word] => [a, b]));

/** Zero, one, infinities of both signs, NaN, and one whose payload is 1. */
function specials(dtype: DTypeCode): Word[] {
  const { sign, infinity, nan } = arithmeticOf(dtype).format;
  return [0n, sign, 1n, infinity, infinity | sign, nan, infinity + 1n];
}

/** Of both signs and of each exponent around those of integers: all fraction bits, and only the last. */
function everyExponent(dtype: DTypeCode): Word[] {
  const { fractionBits, sign, infinity } = arithmeticOf(dtype).format;
  const unit = 1n << BigInt(fractionBits);
  const bias = (infinity / unit) >> 1n;
  const fields = Array.from({ length: 140 }, (_, k) => bias - 4n + BigInt(k)).filter(
    (field) => field * unit < infinity,
  );
  return fields.flatMap((field) =>
    [unit - 1n, 1n].flatMap((rest) => [field * unit + rest, sign | (field * unit + rest)]),
  );
}

describe("Special values on chain", () => {
  const deploy = async () => {
    const { viem } = await createCallChain();
    const elementary = await viem.deployContract("Elementary");
    const functions = await viem.deployContract("ElementaryHarness");
    const floats = await viem.deployContract("FloatHarness");
    const own = await viem.deployContract("Float32Harness");
    return { client: await viem.getPublicClient(), elementary, functions, floats, own };
  };
  let chain: Awaited<ReturnType<typeof deploy>>;
  before(async () => void (chain = await deploy()));

  for (const [name, definition] of Object.entries(BINARY)) {
    it(`float32_${name}_ofAnyTwo_isTheDefinitions`, async () => {
      const pairs = pairsOf(DType.float32);
      const [packed] = await chain.own.read.float32([name, pack(pairs.flat(), 4)]);
      expect(unpack(packed, 4)).to.deep.equal(pairs.map(([a, b]) => definition(a, b)));
    });
  }

  for (const name of ["pow", ...UNIVARIATE] as const) {
    it(`${name}_ofAny_isTheDefinitions`, async () => {
      const { abi, address } = chain.functions;
      for (const dtype of [DType.float32, DType.float64]) {
        const pairs = name === "pow" ? pairsOf(dtype) : edgeWords(dtype).map((a): [Word, Word] => [a, 0n]);
        for (let from = 0; from < pairs.length; from += 300) {
          const some = pairs.slice(from, from + 300);
          const args = [chain.elementary.address, BigInt(Op[name]), BigInt(dtype), pack(some.flat(), 8)] as const;
          const data = encodeFunctionData({ abi, functionName: "evaluateMany", args });
          const result = await chain.client.call({ to: address, data, gas: CALL_GAS });
          const [packed] = decodeFunctionResult({ abi, functionName: "evaluateMany", data: result.data! });
          const canonical = some.map((pair) => pair.map(arithmeticOf(dtype).canonical) as [Word, Word]);
          expect(unpack(packed, 8)).to.deep.equal(canonical.map(([a, b]) => applyOperation(Op[name], dtype, a, b, 0n)));
        }
      }
    });
  }

  it("log1p_ofNumbersSoLargeThatOneMoreIsHardlySeen_isTheDefinitions", async () => {
    const words = [0x4b000000n, 0x4b800000n, 0x4c000000n, 0x4d000000n].flatMap((first) =>
      Array.from({ length: 70 }, (_, k) => first + BigInt(k)),
    );
    const [log1p, log] = [Op.log1p, Op.log].map((op) => words.map((x) => applyOperation(op, DType.float32, x, 0n, 0n)));
    expect(log1p).to.not.deep.equal(log);
    const packed = pack(
      words.flatMap((word) => [word, 0n]),
      8,
    );
    const [results] = await chain.functions.read.evaluateMany([
      chain.elementary.address,
      BigInt(Op.log1p),
      BigInt(DType.float32),
      packed,
    ]);
    expect(unpack(results, 8)).to.deep.equal(log1p);
  });

  for (const [dtype, power, from, to] of [
    [DType.float32, 2n, 4097, 4160],
    [DType.float32, 3n, 257, 321],
    [DType.float16, 2n, 47, 64],
    [DType.float16, 3n, 13, 15],
    [DType.bfloat16, 2n, 17, 22],
    [DType.bfloat16, 3n, 7, 7],
  ] as const) {
    it(`pow_${power}_halfWayBetweenTwo${dtypeName(dtype)}_isTheDefinitions`, async () => {
      // Powers that are odd, of one bit more than a significand has; half of the cubes are above an odd word.
      const bases = Array.from({ length: ((to - from) >> 1) + 1 }, (_, k) => BigInt(from + 2 * k));
      for (const base of bases) {
        const [a, b] = [cast(base, DType.int32, dtype), cast(power, DType.int32, dtype)];
        const word = await chain.elementary.read.evaluate([BigInt(Op.pow), BigInt(dtype), a, b]);
        expect(word, `${base}`).to.equal(applyOperation(Op.pow, dtype, a, b, 0n));
      }
    });
  }

  it("float64_rootsAHairAboveHalfWay_areTheDefinitions", async () => {
    // s^2 + 7 = x * 2^54 or x * 2^55 for an odd s of 54 bits, which is half-way between two words: the root is above
    // it, by 7/(2 s).
    const words = [54n, 55n].flatMap((places) => {
      let root = 1n;
      for (let bit = 3n; bit < places; bit++)
        if (BigInt.asUintN(Number(bit + 1n), root * root + 7n) !== 0n) root += 1n << (bit - 1n);
      const modulus = 1n << places;
      const candidates = [root, -root, root + modulus / 2n, -root + modulus / 2n].map((s) =>
        BigInt.asUintN(Number(places), s),
      );
      return candidates
        .filter((s) => (s * s + 7n) % modulus === 0n && s >> 53n === 1n)
        .map((s) => (s * s + 7n) >> places)
        .filter((x) => x >> 52n === 1n)
        .map((x) => (x ^ (1n << 52n)) + ((1075n + places) << 52n));
    });
    expect(words.length).to.be.above(1);
    const { sqrt } = Op;
    const packed = await chain.floats.read.operate([
      BigInt(sqrt),
      BigInt(DType.float64),
      pack(
        words.flatMap((word) => [word, 0n]),
        32,
      ),
    ]);
    expect(unpack(packed, 32)).to.deep.equal(words.map((word) => applyOperation(sqrt, DType.float64, word, 0n, 0n)));
  });

  for (const from of [DType.float32, ...OTHER_FLOATS]) {
    it(`castsOf${dtypeName(from)}_atEveryExponent_areTheDefinitions`, async () => {
      const words = [...edgeWords(from), ...everyExponent(from)];
      for (const to of Object.values(DType)) {
        if (to === DType.limb) continue;
        const operands = pack(
          words.flatMap((word) => [word, 0n]),
          32,
        );
        const [packed] = await chain.own.read.integer(["cast", BigInt(from + 256 * to), operands]);
        const want = words.map((word) => BigInt.asUintN(256, cast(word, from, to)));
        expect(unpack(packed, 32), dtypeName(to)).to.deep.equal(want);
      }
    });
  }

  for (const dtype of [DType.float32, ...OTHER_FLOATS]) {
    it(`sumsOf${dtypeName(dtype)}_ofAnyTwoProducts_areTheDefinitions`, async () => {
      const words = specials(dtype);
      const rows = words.flatMap((a) => words.flatMap((b) => words.map((c) => [a, b, c, words[2]!])));
      await compareSums(dtype, rows);
    });

    it(`sumsOf${dtypeName(dtype)}_halfWayButForSomethingFarBelow_areTheDefinitions`, async () => {
      const { fractionBits, infinity, sign } = arithmeticOf(dtype).format;
      const unit = 1n << BigInt(fractionBits);
      const one = (infinity >> 1n) & -unit;
      const half = one - BigInt(fractionBits + 1) * unit;
      const rows = [one, one + 1n, one | sign, (one + 1n) | sign].flatMap((a) =>
        [half, half | sign].flatMap((b) =>
          [0n, 1n, 1n | sign, unit, unit | sign].map((c) => [a, one, b, one, c, unit]),
        ),
      );
      await compareSums(dtype, rows);
    });
  }

  async function compareSums(dtype: DTypeCode, rows: readonly Word[][]): Promise<void> {
    const terms = rows[0]!.length / 2;
    const want = rows.map((row) => {
      const sum = new ExactSum(arithmeticOf(dtype));
      for (let k = 0; k < terms; k++) sum.addProduct(row[2 * k]!, row[2 * k + 1]!);
      return sum.round();
    });
    if (dtype === DType.float32) {
      const [packed] = await chain.own.read.dots([pack(rows.flat(), 4), BigInt(terms)]);
      expect(unpack(packed, 4)).to.deep.equal(want);
    } else {
      const args = [BigInt(dtype), BigInt(dtypeBytes(dtype)), pack(rows.flat(), 32), BigInt(terms)] as const;
      expect(unpack(await chain.floats.read.dots(args), 32)).to.deep.equal(want);
    }
  }
});
