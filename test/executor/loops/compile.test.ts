import { expect } from "chai";
import { compileLoops, type LoopCall } from "../../../src/executor/loops/compile.ts";
import type { LoopSpec } from "../../../src/executor/loops/spec.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { cast } from "../../../src/numerics/cast.ts";
import { canonicalWord, DType, isHalf, readWord, writeWord, type Word } from "../../../src/numerics/dtype.ts";
import { toNumber } from "../../../src/numerics/float32.ts";
import { applyOperation } from "../../../src/program/expression.ts";
import { Op, OPERATIONS, signature, type OpName } from "../../../src/program/operations.ts";
import type { View } from "../../../src/program/types.ts";
import { viewOffset } from "../../../src/program/view.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { integerWord } from "../../../testkit/numerics/integerWords.ts";

const TYPES = Object.values(DType).filter((dtype) => dtype !== DType.limb && dtype !== DType.float64);
/** Not a multiple of the lanes of a vector. */
const COUNT = 403;
const REGION = 1 << 16;
const OUT = 4 * REGION;

const memory = kernelMemory(16);
const bytes = new Uint8Array(memory.buffer);

function words(dtype: DType, seed: number): Word[] {
  const prng = new Prng(seed);
  if (dtype === DType.bool) return Array.from({ length: COUNT }, () => prng.bits(1));
  if (isHalf(dtype)) return Array.from({ length: COUNT }, () => canonicalWord(prng.bits(16), dtype));
  if (dtype !== DType.float32) return Array.from({ length: COUNT }, () => integerWord(prng, dtype));
  const special = [0n, 0x80000000n, 0x7f800000n, 0xff800000n, 0x7fc00000n, 0x3f800000n, 0xbf000000n];
  const small = Array.from({ length: 200 }, () => [0x40000000n, 0xbfc00000n, 0x3f000000n, 0n][prng.uint32() % 4]!);
  const all = [...special, ...small, ...float32Words(seed, COUNT)].map((word) => canonicalWord(word, dtype));
  return all.map((_, n) => all[(n * (seed + 1)) % all.length]!).slice(0, COUNT);
}

const plain = (input: number): View => ({
  input,
  fill: 0n,
  axes: [{ extent: COUNT, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }],
});

const baseSpec = { digits: [{ digit: 0, radix: COUNT }], constants: [], outs: [0] };

function run(
  spec: LoopSpec,
  sources: readonly (readonly Word[])[],
  loop: LoopCall = compileLoops([spec]).on(memory)[0]!,
  piece = Infinity,
) {
  sources.forEach((values, n) => {
    const region = bytes.subarray(n * REGION, (n + 1) * REGION);
    values.forEach((word, index) => writeWord(region, index, spec.sourceTypes[n]!, word));
  });
  bytes.fill(0xee, OUT);
  const { radix } = spec.digits[spec.ranged ?? 0]!;
  const addresses = sources.map((_, n) => n * REGION);
  for (let start = 0; start < radix; start += piece) loop(addresses, [OUT], start, Math.min(radix, start + piece));
}

/** The bits of a result, not made canonical. */
function rawWord(index: number, dtype: DType): Word {
  if (dtype !== DType.float32 && dtype !== DType.bool) return readWord(bytes.subarray(OUT), index, dtype);
  const view = new DataView(memory.buffer, OUT);
  return BigInt(dtype === DType.bool ? view.getUint8(index) : view.getUint32(index * 4, true));
}

describe("compiled loops", function () {
  this.timeout(60_000);

  const tested = OPERATIONS.filter((name) => name !== "digit" && name !== "cast");
  for (const name of tested)
    it(`${name}_isTheDefinition_onVectorsAndTheirRest_onEveryType`, () => {
      const { accepts, bool, arity } = signature(Op[name])!;
      for (const dtype of TYPES.filter(accepts)) checkOperation(name, dtype, arity, bool ? DType.bool : dtype);
    });

  function checkOperation(name: OpName, dtype: DType, arity: number, outType: DType): void {
    const types = name === "select" ? [DType.bool, dtype, dtype] : new Array<DType>(arity).fill(dtype);
    const sources = types.map((type, n) => words(type, n + 1));
    const instruction = { op: Op[name], dtype, a: 0, b: arity > 1 ? 1 : 0, c: arity > 2 ? 2 : 0 };
    const spec = {
      ...baseSpec,
      reads: types.map((_, n) => plain(n)),
      sourceTypes: types,
      code: [instruction],
      outs: [arity],
    };
    run(spec, sources);
    for (let i = 0; i < COUNT; i++) {
      const [a, b, c] = sources.map((source) => source[i]!);
      const expected = applyOperation(Op[name], dtype, a!, b ?? 0n, c ?? 0n);
      expect(rawWord(i, outType), `${name} of type ${dtype}: ${a}, ${b}`).to.equal(expected);
    }
  }

  for (const from of TYPES)
    it(`castsOfType${from}_areTheDefinition_toEveryType`, () => {
      for (const to of TYPES) {
        const source = words(from, to);
        const code = [{ op: Op.cast, dtype: from, a: 0, b: to, c: 0 }];
        run({ ...baseSpec, reads: [plain(0)], sourceTypes: [from], code, outs: [1] }, [source]);
        source.forEach((word, i) => expect(rawWord(i, to), `${word} to ${to}`).to.equal(cast(word, from, to)));
      }
    });

  it("extremaWithConstants_areTheDefinition", () => {
    const source = words(DType.float32, 5);
    for (const name of ["min", "max"] as const) {
      for (const value of [0n, 0x40000000n, 0x7fc00000n, 0xff800000n]) {
        for (const [a, b] of [
          [0, 1],
          [1, 0],
        ] as const) {
          const code = [{ op: Op[name], dtype: DType.float32, a, b, c: 0 }];
          const constants = [{ dtype: DType.float32, value }];
          run({ ...baseSpec, reads: [plain(0)], sourceTypes: [DType.float32], constants, code, outs: [2] }, [source]);
          source.forEach((word, i) => {
            const expected = applyOperation(Op[name], DType.float32, word, value, 0n);
            expect(rawWord(i, DType.float32), `${name} of ${word} and ${value}`).to.equal(expected);
          });
        }
      }
    }
  });

  it("negativeZerosOfProducts_divideLikeZero", () => {
    const constants = [0xbf800000n, 0x3f800000n].map((value) => ({ dtype: DType.float32, value }));
    // 1 / (0 * -1) is Infinity.
    const code = [
      { op: Op.mul, dtype: DType.float32, a: 0, b: 1, c: 0 },
      { op: Op.div, dtype: DType.float32, a: 2, b: 3, c: 0 },
    ];
    const spec = { ...baseSpec, reads: [plain(0)], sourceTypes: [DType.float32], constants, code, outs: [4] };
    run(spec, [new Array<Word>(COUNT).fill(0n)]);
    for (let i = 0; i < COUNT; i++) expect(rawWord(i, DType.float32)).to.equal(0x7f800000n);
  });

  it("widenedResults_areFloat64", () => {
    const source = words(DType.float32, 7);
    run({ ...baseSpec, reads: [plain(0)], sourceTypes: [DType.float32], code: [], widened: [0] }, [source]);
    const view = new DataView(memory.buffer, OUT);
    source.forEach((word, i) => expect(view.getFloat64(8 * i, true)).to.deep.equal(toNumber(word)));
  });

  it("views_readWhatTheDefinitionReads_andResultsGoWhereStridesSay", () => {
    const prng = new Prng(3);
    const upTo = (n: number): number => prng.uint32() % n;
    for (let round = 0; round < 300; round++) {
      const dtype = TYPES[upTo(TYPES.length)]!;
      const radices = Array.from({ length: 1 + upTo(3) }, () => 1 + upTo(9));
      const digits = radices.map((radix, digit) => ({ digit, radix }));
      const axis = () => ({
        extent: 1 + upTo(8),
        stride: [1, 1, 2, 8][upTo(4)]!,
        base: upTo(5) - 2,
        div: 1 + (upTo(4) === 0 ? upTo(3) : 0),
        coeffs: digits.flatMap(({ digit }) => (upTo(3) === 0 ? [] : [{ digit, coeff: [1, 1, 1, -1, 2][upTo(5)]! }])),
      });
      const indexType = [DType.int64, DType.int32, DType.uint8, DType.uint64, DType.int8][upTo(5)]!;
      const index: View = { input: 1, fill: 0n, axes: [{ ...axis(), extent: 16, stride: 1 }] };
      const indirect = upTo(2) === 0 ? { indirect: 0 } : {};
      const fill = dtype === DType.bool ? 1n : 3n;
      const reads = [index, { input: 0, fill, axes: [{ ...axis(), ...indirect }, axis()] }];
      const outStrides = radices.map((_, k) => 2 * radices.slice(k + 1).reduce((p, r) => p * r, 1));
      const strides =
        upTo(2) === 0 ? outStrides : radices.map((_, k) => radices.slice(0, k).reduce((p, r) => p * r, 1));
      const source = words(dtype, round);
      const indices = Array.from({ length: 16 }, () =>
        upTo(5) === 0 ? integerWord(prng, indexType) : BigInt(upTo(9)),
      );
      const spec: LoopSpec = {
        ...{ digits, reads, sourceTypes: [dtype, indexType], constants: [], code: [], outs: [1], outStrides: strides },
        ranged: upTo(radices.length),
      };
      run(spec, [source, indices], undefined, 1 + upTo(9));
      const count = radices.reduce((p, r) => p * r, 1);
      for (let i = 0; i < count; i++) {
        const values = radices.map(
          (radix, k) => Math.floor(i / radices.slice(k + 1).reduce((p, r) => p * r, 1)) % radix,
        );
        const at = viewOffset(reads[0]!, values, []);
        const read = at === undefined ? 0n : indices[at]!;
        const offset = viewOffset(reads[1]!, values, [read]);
        const place = values.reduce((sum, value, k) => sum + value * strides[k]!, 0);
        expect(
          rawWord(place, dtype),
          JSON.stringify({ reads, values, radices }, (_, v: unknown) => (typeof v === "bigint" ? `${v}` : v)),
        ).to.equal(offset === undefined ? fill : source[offset]);
      }
    }
  });

  it("equalNests_shareAFunction_andRangesOfTheFirstDigitStoreInPlace", () => {
    const spec = { ...baseSpec, reads: [plain(0)], sourceTypes: [DType.float32], code: [] };
    const [first, second] = compileLoops([spec, spec]).on(memory) as [LoopCall, LoopCall];
    const source = words(DType.float32, 2);
    run(spec, [source], (sources, outs, _, end) => {
      first(sources, outs, 0, 50);
      second(sources, outs, 50, end);
    });
    source.forEach((word, i) => expect(rawWord(i, DType.float32)).to.equal(word));
  });
});
