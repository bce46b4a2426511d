/** Operands on which the models of `proofs` and the deployed bytecode must give the same words. */
import type { Hex } from "viem";
import { DType, floatFormat } from "../../../src/numerics/dtype.ts";
import { Op } from "../../../src/program/operations.ts";
import type { Vectors } from "./compared.ts";
import { CIRCUIT_DEFINITIONS, CIRCUIT_VECTORS } from "./circuits.ts";
import { VIEW_DEFINITIONS, VIEW_VECTORS } from "./views.ts";
import { integerWords, OPENINGS, pairsOf, PAIRS, parent, ROUNDED, SUMS, type Opening, type Pair } from "./operands.ts";

/** Where the words of the models are kept, so that a test without Coq can compare the bytecode with them. */
export const GOLDEN = "test/golden/proofs.json";

/** Words of the models by the names of `VECTORS`, in hexadecimal, separated by spaces. */
export type ModelWords = Readonly<Record<string, string>>;

/** The words as they are kept. */
export const asText = (words: readonly bigint[]): string => words.map((word) => word.toString(16)).join(" ");

const FLOATS = ["float16", "bfloat16", "float32", "float64"] as const;
type FloatName = (typeof FLOATS)[number];

/** The type's bits of fraction and of exponent, arguments of the models. */
const typeOf = (name: FloatName): string => {
  const { bits, fractionBits } = floatFormat(DType[name]);
  return `${fractionBits} ${bits - fractionBits - 1}`;
};
const PAIRS_OF = Object.fromEntries(FLOATS.map((name, k) => [name, pairsOf(DType[name], 531 + k)])) as Record<
  FloatName,
  readonly Pair[]
>;

/** Stands for a call that reverts: no word. */
const REVERTS = 1n << 256n;

const literal = (word: bigint): string => `0x${word.toString(16)}`;
const list = (items: readonly string[]): string => `[${items.join("; ")}]`;
const pairList = (pairs: readonly Pair[]): string => list(pairs.map(([a, b]) => `(${literal(a)}, ${literal(b)})`));

/** Definitions of Coq for the terms. */
export const DEFINITIONS: readonly string[] = [
  `Definition pairs := ${pairList(PAIRS)}.`,
  ...FLOATS.map((name) => `Definition pairs_${name} := ${pairList(PAIRS_OF[name])}.`),
  ...VIEW_DEFINITIONS,
  ...CIRCUIT_DEFINITIONS,
];

const packed = (words: readonly bigint[], bytes: number): Hex =>
  `0x${words.map((word) => word.toString(16).padStart(2 * bytes, "0")).join("")}`;
const unpacked = (given: Hex | undefined, bytes: number): bigint[] =>
  (given?.slice(2).match(new RegExp(`.{${2 * bytes}}`, "g")) ?? []).map((digits) => BigInt(`0x${digits}`));

/** A function of Float32.sol on pairs of words; a unary function ignores the second. */
const float32 = (name: string, model: string): readonly [string, Vectors] => [
  `Float32.${name}`,
  {
    term: `map (fun t => ${model}) pairs`,
    play: async (call) => {
      const results = (await call("Float32Harness", "float32", [name, packed(PAIRS.flat(), 4)])) as [Hex] | undefined;
      return unpacked(results?.[0], 4);
    },
  },
];

/** A function of Float.sol. */
const float = (type: FloatName, name: keyof typeof Op, model: string): readonly [string, Vectors] => [
  `Float.${name} of ${type}`,
  {
    term: `map (fun t => ${model.replace("TYPE", typeOf(type))}) pairs_${type}`,
    play: async (call) => {
      const operands = packed(PAIRS_OF[type].flat(), 32);
      return unpacked((await call("FloatHarness", "operate", [Op[name], DType[type], operands])) as Hex, 32);
    },
  },
];

/** Cast.cast of words from one type to another. `list` is a term of Coq for the words. */
const cast = (
  [from, to]: readonly [keyof typeof DType, FloatName],
  words: readonly bigint[],
  list: string,
  model: string,
): readonly [string, Vectors] => [
  `Cast.cast of ${from} to ${to}`,
  {
    term: `map (fun a => ${model}) ${list}`,
    play: async (call) => {
      const operands = packed(
        words.flatMap((word) => [word, 0n]),
        32,
      );
      const types = DType[from] + 256 * DType[to];
      const results = (await call("Float32Harness", "integer", ["cast", types, operands])) as [Hex] | undefined;
      return unpacked(results?.[0], 32);
    },
  },
];

const BINARY = { add: "addWords TYPE 192", sub: "subWords TYPE 192", mul: "mulWords TYPE", div: "divWords TYPE 108" };
const CHOOSING = { min: "minWords TYPE", max: "maxWords TYPE", lt: "ltWords TYPE", le: "leWords TYPE" };
const ofTwo = Object.entries({ ...BINARY, ...CHOOSING, eq: "eqWords TYPE" });
const ofOne = Object.entries({ neg: "negWord TYPE (fst t)", abs: "absWord TYPE (fst t)" });
const kinds = Object.entries({ isNaN: "b2z (isNaNWord TYPE (fst t))", isInf: "b2z (isInfiniteWord TYPE (fst t))" });
const GENERAL = [...ofTwo.map(([name, model]) => [name, `${model} (fst t) (snd t)`] as const), ...ofOne, ...kinds];

const NAMES_32 = ["add", "sub", "mul", "div", "min", "max", "lt", "le", "eq"];
const OWN_32 = Object.fromEntries(
  ["neg", "abs", "canonical", "floor", "ceil", "round", "sign", "sqrt"].map((name) => [name, `${name}32`]),
);
const KINDS_32 = { isNaN: "isNaN32", isInfinite: "isInfinite32" };

const record = ({ negative, sticky, exponent, mantissa }: (typeof ROUNDED)[number]): string => {
  const integer = BigInt.asUintN(256, exponent);
  return [negative, sticky].map((each) => (each ? "01" : "00")).join("") + packed([integer, mantissa], 32).slice(2);
};

/** The hash in Coq: a table of the nodes on an opening's path. Another pair of nodes has no hash. */
function hashOf({ leaf, index, siblings }: Opening): string {
  let [node, rest] = [leaf, index];
  const rows = siblings.map((sibling) => {
    const [left, right] = rest & 1n ? [sibling, node] : [node, sibling];
    [node, rest] = [parent(left, right), rest >> 1n];
    return `if (a =? ${literal(left)}) && (b =? ${literal(right)}) then ${literal(node)} else `;
  });
  return `(fun a b => ${rows.join("")}-1)`;
}

const isNode = (field: keyof Opening): boolean => field === "root" || field === "leaf";
const node = (word: bigint): Hex => packed([word], 32);

/** A function of PositionalMerkle.sol on openings. */
const merkle = (
  name: string,
  fields: readonly Exclude<keyof Opening, "siblings">[],
  value: string,
): readonly [string, Vectors] => [
  `PositionalMerkle.${name}`,
  {
    term: list(
      OPENINGS.map((opening) => {
        const words = [...fields.map((field) => literal(opening[field])), list(opening.siblings.map(literal))];
        return `match ${name} ${hashOf(opening)} ${words.join(" ")} with Some w => ${value} | None => ${REVERTS} end`;
      }),
    ),
    play: async (call) => {
      const words: bigint[] = [];
      for (const opening of OPENINGS) {
        const args = fields.map((field) => (isNode(field) ? node(opening[field]) : opening[field]));
        const result = await call("MerkleHarness", name, [...args, opening.siblings.map(node)]);
        words.push(result === undefined ? REVERTS : BigInt(result as Hex | boolean));
      }
      return words;
    },
  },
];

const WIDTHS = [0n, 1n, 2n, 3n, 4n, 5n, 1n << 24n, (1n << 24n) + 1n, 1n << 255n, (1n << 255n) + 1n, (1n << 256n) - 1n];

/** All vectors, by the compared function. */
export const VECTORS: Readonly<Record<string, Vectors>> = Object.fromEntries<Vectors>([
  ...SUMS.map(({ terms, rows }): [string, Vectors] => [
    `ExactSum of ${terms}`,
    {
      term: `map dot ${list(rows.map(pairList))}`,
      play: async (call) => {
        const results = (await call("Float32Harness", "dots", [packed(rows.flat(2), 4), terms])) as [Hex] | undefined;
        return unpacked(results?.[0], 4);
      },
    },
  ]),
  ...NAMES_32.map((name) => float32(name, `${name}32 (fst t) (snd t)`)),
  ...Object.entries(OWN_32).map(([name, model]) => float32(name, `${model} (fst t)`)),
  ...Object.entries(KINDS_32).map(([name, model]) => float32(name, `b2z (${model} (fst t))`)),
  [
    "Float32.roundToFloat32",
    {
      term: list(
        ROUNDED.map(
          ({ negative, sticky, exponent, mantissa }) =>
            `roundToFloat32 ${negative} ${literal(mantissa)} (${exponent}) ${sticky}`,
        ),
      ),
      play: async (call) =>
        unpacked((await call("Float32Harness", "rounded", [`0x${ROUNDED.map(record).join("")}`])) as Hex, 4),
    },
  ],
  ...FLOATS.flatMap((type) => GENERAL.map(([name, model]) => float(type, name as keyof typeof Op, model))),
  ...FLOATS.flatMap((from) =>
    FLOATS.map((to) => {
      const model = from === to ? `canonical ${typeOf(from)} a` : `convertWord ${typeOf(from)} ${typeOf(to)} a`;
      const words = PAIRS_OF[from].map(([a]) => a);
      return cast([from, to], words, `(map fst pairs_${from})`, model);
    }),
  ),
  ...(["int8", "uint8", "int64", "uint64"] as const).flatMap((from) =>
    FLOATS.map((to) => {
      const words = integerWords(DType[from]);
      return cast([from, to], words, list(words.map(literal)), `castInteger ${typeOf(to)} a`);
    }),
  ),
  [
    "PositionalMerkle.depth",
    {
      term: list(WIDTHS.map((width) => `match depth ${literal(width)} with Some w => w | None => ${REVERTS} end`)),
      play: async (call) => {
        const words: bigint[] = [];
        for (const width of WIDTHS)
          words.push(((await call("MerkleHarness", "depth", [width])) as bigint | undefined) ?? REVERTS);
        return words;
      },
    },
  ],
  merkle("rootFromPath", ["leaf", "index"], "w"),
  merkle("nodeUnder", ["root", "levels", "leaf", "index"], "b2z w"),
  merkle("leafUnder", ["root", "width", "leaf", "index"], "b2z w"),
  ...VIEW_VECTORS,
  ...CIRCUIT_VECTORS,
]);
