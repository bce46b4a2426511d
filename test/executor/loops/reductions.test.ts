import { expect } from "chai";
import { compileReductions } from "../../../src/executor/loops/reductions.ts";
import type { ReductionSpec } from "../../../src/executor/loops/reductionSpec.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { canonicalWord, DType, readWord, writeWord, type Word } from "../../../src/numerics/dtype.ts";
import { fromNumber } from "../../../src/numerics/float32.ts";
import { runCode } from "../../../src/program/expression.ts";
import { Op } from "../../../src/program/operations.ts";
import { accumulatorTypes, hasTwoResults, startReduction } from "../../../src/program/reduction.ts";
import { Reduce, type ReduceName, type View } from "../../../src/program/types.ts";
import { splitDigits, viewOffset } from "../../../src/program/view.ts";
import { float32Words } from "../../../testkit/numerics/float32Words.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { integerWord } from "../../../testkit/numerics/integerWords.ts";
import { AT_LENGTH } from "../../../testkit/atLength.ts";

const COUNT = 400;
const ROUNDS = AT_LENGTH ? { float32: 150, integers: 40 } : { float32: 24, integers: 6 };
const REGION = 1 << 14;
const OUT = 4 * REGION;
const SECOND_OUT = 5 * REGION;
const FLAGGED = 6 * REGION;
const memory = kernelMemory(2);
const bytes = new Uint8Array(memory.buffer);

const INTEGERS = [DType.int8, DType.uint8, DType.uint16, DType.int32, DType.uint32, DType.int64, DType.uint64] as const;
const NUMBERS = [DType.float32, ...INTEGERS];

function words(dtype: DType, prng: Prng, ordinary: boolean): Word[] {
  return Array.from({ length: COUNT }, () => {
    if (dtype === DType.bool) return prng.bits(1);
    if (dtype !== DType.float32) return prng.below(3) === 0 ? BigInt(prng.below(4)) : integerWord(prng, dtype);
    if (ordinary) return fromNumber(Math.fround(prng.uint32() / 2 ** 32 - 0.5));
    return canonicalWord(prng.below(3) === 0 ? prng.pick(float32Words(prng.uint32(), 30)) : prng.bits(32), dtype);
  });
}

/** Any views over a few digits, of which some are plain: strides 1 and 0 in the digits that are vectorised. */
function randomSpec(
  prng: Prng,
  reduce: Reduce,
  reduceType: DType,
): ReductionSpec & { outDigits: { digit: number; radix: number }[] } {
  const radix = (): number => 1 + prng.below(prng.below(3) === 0 ? 19 : 5);
  const out = Array.from({ length: 1 + prng.below(3) }, radix);
  const red = Array.from({ length: 1 + prng.below(3) }, radix);
  const coeffs = (): View["axes"][number]["coeffs"] =>
    [...out, ...red].flatMap((_, digit) =>
      prng.below(2) === 0 ? [] : [{ digit, coeff: prng.pick([1, 1, 1, 2, -1]) }],
    );
  const axis = (): View["axes"][number] => ({
    extent: prng.pick([8, 20, 20, 20]),
    stride: prng.pick([1, 1, 20]),
    base: prng.below(4) === 0 ? prng.below(5) - 2 : 0,
    div: prng.below(5) === 0 ? 2 : 1,
    coeffs: coeffs(),
  });
  const twice = hasTwoResults(reduce);
  const types = twice ? [reduce === Reduce.last ? DType.bool : reduceType, reduceType] : [reduceType];
  const fill = (dtype: DType): bigint => (dtype === DType.float32 ? 0x3f800000n : 1n);
  const reads = types.map((dtype, input) => ({
    input,
    fill: fill(dtype),
    axes:
      prng.below(2) === 0 ? [axis()] : [axis(), axis()].map((a) => ({ ...a, extent: 10, stride: prng.pick([1, 10]) })),
  }));
  const outB = twice ? 1 : 0;
  const usesCode = reduce !== Reduce.last && prng.below(2) === 0;
  const code = usesCode ? [{ op: Op.mul, dtype: reduceType, a: 0, b: outB, c: 0 }] : [];
  const digits = [...out, ...red].map((value, digit) => ({ digit, radix: value }));
  return {
    ...{ outDigits: digits.slice(0, out.length), redDigits: digits.slice(out.length) },
    ...{ reads, sourceTypes: types, constants: [], code, reduce, reduceType, outB },
    outA: usesCode ? reads.length : 0,
  };
}

function expected(spec: ReductionSpec, sources: readonly Word[][], index: number): Word[] {
  const out = splitDigits(
    index,
    spec.outDigits.map(({ radix }) => radix),
  );
  const red = spec.redDigits.map(({ radix }) => radix);
  const reduction = startReduction({ ...spec, outDigits: [] }, 0);
  const terms = red.reduce((product, radix) => product * radix, 1);
  for (let r = 0; r < terms; r++) {
    const digits = [...out, ...splitDigits(r, red)];
    const slots = spec.reads.map((view) => {
      const offset = viewOffset(view, digits, []);
      return offset === undefined ? view.fill : sources[view.input]![offset]!;
    });
    runCode(spec.code, slots, digits);
    reduction.add(slots[spec.outA]!, slots[spec.outB]!, r);
  }
  return reduction.result();
}

describe("compiled reductions", function () {
  this.timeout(60_000);

  const kinds: [ReduceName, readonly DType[]][] = [
    ["sum", NUMBERS],
    ["dot", NUMBERS],
    ["max", NUMBERS],
    ["min", NUMBERS],
    ["argmax", NUMBERS],
    ["argmin", NUMBERS],
    ["argmaxLast", NUMBERS],
    ["argminLast", NUMBERS],
    ["last", [...NUMBERS, DType.bool]],
  ];
  for (const [name, types] of kinds)
    it(`${name}_isTheDefinition_whereItIsNotFlagged`, () => {
      const prng = new Prng(Reduce[name]);
      let flags = 0;
      let results = 0;
      for (const dtype of types) {
        for (let round = 0; round < (dtype === DType.float32 ? ROUNDS.float32 : ROUNDS.integers); round++) {
          const spec = randomSpec(prng, Reduce[name], dtype);
          const counts = check(spec, prng, round % 3 !== 0);
          if (round % 3 === 0) continue;
          flags += counts.flagged;
          results += counts.results;
        }
      }
      if (name !== "sum" && name !== "dot") expect(flags).to.equal(0);
      // Ordinary numbers: what is flagged is exact ties and cancellation.
      expect(flags / results).to.be.lessThan(0.1);
    });

  function check(
    spec: ReturnType<typeof randomSpec>,
    prng: Prng,
    ordinary: boolean,
  ): { flagged: number; results: number } {
    const sources = spec.sourceTypes.map((dtype) => words(dtype, prng, ordinary));
    sources.forEach((source, n) => {
      source.forEach((word, i) => writeWord(bytes.subarray(n * REGION), i, spec.sourceTypes[n]!, word));
    });
    const [call] = compileReductions([spec]).on(memory);
    const radices = spec.outDigits.map(({ radix }) => radix);
    const results = radices.reduce((product, radix) => product * radix, 1);
    const cut = prng.below(radices[0]! + 1);
    const at = sources.map((_, n) => n * REGION);
    const outs = [OUT, SECOND_OUT].slice(0, accumulatorTypes(spec).length);
    const first = call!(at, outs, FLAGGED, 0, cut);
    const second = call!(at, outs, FLAGGED + 4 * first, cut, radices[0]!);
    const flagged = new Set(new Uint32Array(memory.buffer, FLAGGED, first + second));
    const types = accumulatorTypes(spec);
    for (let i = 0; i < results; i++) {
      if (flagged.has(i)) continue;
      const got = types.map((dtype, n) => readWord(bytes.subarray(n === 0 ? OUT : SECOND_OUT), i, dtype));
      const raw = new DataView(memory.buffer, OUT);
      if (types[0] === DType.float32) got[0] = BigInt(raw.getUint32(4 * i, true));
      const show = JSON.stringify({ spec, i }, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
      expect(got, show).to.deep.equal(expected(spec, sources, i));
    }
    return { flagged: flagged.size, results };
  }
});
