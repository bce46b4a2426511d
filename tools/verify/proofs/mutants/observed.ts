/** The vectors on which a changed model is compared with Flocq's words, and Coq's text for them. */
import { DType, floatFormat } from "../../../../src/numerics/dtype.ts";
import { floatPairs } from "../../../../testkit/numerics/floatWords.ts";
import { Prng } from "../../../../testkit/random/prng.ts";
import { PAIRS, SUMS } from "../vectors.ts";

/** A comparison: it names the theorem that a difference refutes. */
type Observed = {
  readonly theorem: string;
  /** The file of `proofs` that defines the compared model. */
  readonly file: string;
  /** The model as a function of one vector. */
  readonly model: string;
  /** What Flocq says, as such a function. */
  readonly flocq: string;
  readonly vectors: string;
};

const list = (items: readonly string[]): string => `[${items.join("; ")}]`;
const pair = ([a, b]: readonly [bigint, bigint]): string => `(${a}, ${b})`;

const TYPES = [
  { name: "float16", dtype: DType.float16, mw: 10, ew: 5, quiet: "quiet16" },
  { name: "bfloat16", dtype: DType.bfloat16, mw: 7, ew: 8, quiet: "quietB16" },
  { name: "float32", dtype: DType.float32, mw: 23, ew: 8, quiet: "quiet32" },
  { name: "float64", dtype: DType.float64, mw: 52, ew: 11, quiet: "quiet64" },
] as const;
/** Pairs of each type for the operations of any type. */
const PAIRS_OF_A_TYPE = 250;
const ROUNDINGS = 250;

/** Operations of two words: the name, what Flocq's text calls it, and whether Float32 has the theorem for its own. */
const OPERATIONS = [
  ["add", "plus"],
  ["sub", "minus"],
  ["mul", "times"],
  ["div", "over"],
  ["min", "least"],
  ["max", "greatest"],
  ["lt", "less"],
  ["le", "lessOrEqual"],
  ["eq", "equal"],
  ["neg", "opposite"],
  ["abs", "absolute"],
] as const;
const UNARY = new Set(["neg", "abs"]);
const RELATIONS = new Set(["lt", "le", "eq", "min", "max"]);
const needsQuiet = (name: string): boolean => !RELATIONS.has(name) && name !== "canonical";

/** Coq's text for the vectors. */
export function vectorsText(): string {
  const prng = new Prng(5353);
  const lines = [
    `Definition pairs32 := ${list(PAIRS.map(pair))}.`,
    `Definition sums := ${list(SUMS.flatMap(({ rows }) => rows.map((row) => list(row.map(pair)))))}.`,
    `Definition integers := ${list(integers(prng).map((each) => `${each < 0n ? `(${each})` : each}`))}.`,
  ];
  for (const { name, dtype } of TYPES) {
    const all = floatPairs(prng, dtype, 3 * PAIRS_OF_A_TYPE);
    const kept = Array.from(
      { length: PAIRS_OF_A_TYPE },
      (_, k) => all[Math.floor((k * all.length) / PAIRS_OF_A_TYPE)]!,
    );
    lines.push(`Definition pairs_${name} := ${list(kept.map(pair))}.`);
    lines.push(`Definition roundings_${name} : list rounding_t := ${list(roundings(prng, dtype))}.`);
  }
  return lines.join("\n");
}

/** Integers within 64 bits, many of them at a power of two or halfway between floats. */
function integers(prng: Prng): bigint[] {
  const near = Array.from({ length: 65 }, (_, k) => [-1n, 0n, 1n].map((d) => (1n << BigInt(k)) + d)).flat();
  const any = Array.from({ length: 100 }, () => prng.bits(1 + prng.below(64)));
  return [...near, ...any].filter((each) => each <= 1n << 64n).flatMap((each) => [each, -each]);
}

/** Mantissas, exponents, signs and sticky bits within the precondition of `roundTo`, near the type's edges. */
function roundings(prng: Prng, dtype: DType): string[] {
  const { fractionBits, infinity } = floatFormat(dtype);
  const emax = Number(infinity >> BigInt(fractionBits)) >> 1;
  const lowest = 1 - emax - fractionBits;
  return Array.from({ length: ROUNDINGS }, (_, k) => {
    const bits = k % 5 === 0 ? 1 + prng.below(256) : fractionBits + 1 + prng.below(40);
    const ones = prng.below(2) === 0 ? 0n : (1n << BigInt(prng.below(bits))) - 1n;
    const leading = 1n << BigInt(bits - 1);
    const tie = bits > fractionBits + 1 ? 1n << BigInt(bits - fractionBits - 2) : 0n;
    const m =
      k % 3 === 0
        ? leading | tie | ones
        : k % 3 === 1
          ? leading | (prng.bits(bits) >> BigInt(prng.below(bits)))
          : leading | tie;
    const top = prng.pick([emax, lowest, 1 - emax, 0]) + prng.below(5) - 2;
    const exponent = top - bits + 1;
    const isAllowed = m >= 1n << BigInt(fractionBits + 1) || exponent < lowest;
    const sticky = isAllowed && prng.below(2) === 0;
    return `(${prng.below(2) === 0}, ${k === 0 ? 0n : m}, (${exponent}), ${k === 0 ? false : sticky})`;
  });
}

/** All comparisons. */
export const OBSERVED: readonly Observed[] = [
  { theorem: "dot_correct", file: "Products", model: "dot", flocq: "sumByFlocq", vectors: "sums" },
  ...OPERATIONS.map(([name, flocq]) => {
    const quiet = needsQuiet(name) ? " quiet32" : "";
    const model = UNARY.has(name) ? `(fun a _ => ${name}32 a)` : `${name}32`;
    return {
      theorem: name === "mul" ? "Mul.mul_correct" : `${name}_correct32`,
      file: name === "mul" ? "Mul" : "Float32",
      model: `on2 ${model}`,
      flocq: `on2 (typed 23 8 ${flocq}${quiet})`,
      vectors: "pairs32",
    };
  }),
  {
    theorem: "roundToFloat32_correct",
    file: "Mul",
    model: "on4 roundToFloat32",
    flocq: "on4 (rounding 23 8 eq_refl eq_refl)",
    vectors: "roundings_float32",
  },
  ...TYPES.flatMap(({ name, mw, ew, quiet }) => [
    {
      theorem: `roundTo_${name}`,
      file: "RoundTo",
      model: `on4 (roundTo ${mw} ${ew})`,
      flocq: `on4 (rounding ${mw} ${ew} eq_refl eq_refl)`,
      vectors: `roundings_${name}`,
    },
    {
      theorem: "canonical_correct",
      file: "Decode",
      model: `on2 (fun a _ => canonical ${mw} ${ew} a)`,
      flocq: `on2 (typed ${mw} ${ew} same_number)`,
      vectors: `pairs_${name}`,
    },
    ...OPERATIONS.map(([operation, flocq]) => {
      const called = UNARY.has(operation) ? `${operation}Word` : `${operation}Words`;
      const far = operation === "add" || operation === "sub" ? " 192" : operation === "div" ? " 108" : "";
      const model = UNARY.has(operation) ? `(fun a _ => ${called} ${mw} ${ew} a)` : `(${called} ${mw} ${ew}${far})`;
      return {
        theorem: `Arithmetic.${operation}_correct`,
        file: "Arithmetic",
        model: `on2 ${model}`,
        flocq: `on2 (typed ${mw} ${ew} ${flocq}${needsQuiet(operation) ? ` ${quiet}` : ""})`,
        vectors: `pairs_${name}`,
      };
    }),
    ...TYPES.filter((to) => to.name !== name).map((to) => ({
      theorem: "convert_correct",
      file: "Convert",
      model: `on2 (fun a _ => convertWord ${mw} ${ew} ${to.mw} ${to.ew} a)`,
      flocq: `on2 (fun a _ => typed ${to.mw} ${to.ew} (typed ${mw} ${ew} conversion) a)`,
      vectors: `pairs_${name}`,
    })),
    {
      theorem: "castInteger_correct",
      file: "Convert",
      model: `(fun z => castInteger ${mw} ${ew} (uint z))`,
      flocq: `(fun z => flocqRound ${mw} ${ew} eq_refl eq_refl z 0)`,
      vectors: "integers",
    },
  ]),
];
