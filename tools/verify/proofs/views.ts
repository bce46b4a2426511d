/** Lists of views as operands: bodies with all kinds of axes, with single mistakes, and their placements. */
import type { Hex } from "viem";
import { Prng } from "../../../src/base/prng.ts";
import { DType, dtypeBytes, isSigned, type DType as DTypeCode } from "../../../src/numerics/dtype.ts";
import { ByteWriter } from "../../../src/program/bytes.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { openChunks } from "../../../src/program/trace/opening.ts";
import type { Axis } from "../../../src/program/types.ts";
import type { Vectors } from "./compared.ts";

type Input = { readonly dtype: DTypeCode; readonly count: number };
type Read = { readonly input: number; readonly axes: readonly Axis[]; readonly axisCount?: number };
/** A list of views in a body, of the inputs and the number of digits that the views may use. */
type List = { readonly inputs: readonly Input[]; readonly digits: number; readonly body: Uint8Array };
type Placement = List & {
  readonly values: readonly number[];
  readonly along: number;
  readonly terms: number;
  /** The opened chunks of each input. */
  readonly opened: readonly (readonly number[])[];
};

const INPUTS: readonly Input[] = [
  { dtype: DType.int8, count: 1600 },
  { dtype: DType.float32, count: 500 },
  { dtype: DType.int16, count: 700 },
  { dtype: DType.float64, count: 200 },
];
/** No word that begins within the views reaches past these zeros. */
const PADDING = 64;
const DIGITS = 3;

function bodyOf(reads: readonly Read[], count = reads.length): Uint8Array {
  const w = new ByteWriter().unsigned(count, 1);
  for (const { input, axes, axisCount } of reads) {
    w.unsigned(input, 1)
      .unsigned(0, 8)
      .unsigned(axisCount ?? axes.length, 1);
    for (const { extent, stride, base, div, indirect, coeffs } of axes) {
      w.unsigned(extent, 4).unsigned(stride, 4).signed(base, 4).unsigned(div, 4);
      w.unsigned(indirect ?? 255, 1).unsigned(coeffs.length, 1);
      for (const { digit, coeff } of coeffs) w.unsigned(digit, 1).signed(coeff, 4);
    }
  }
  return w.raw(new Uint8Array(PADDING)).finish();
}

/** One to three axes over an input's elements, or a single short axis; coordinates are often near the bounds. */
function axesOf(random: Prng, count: number, single: boolean, indirect: number | undefined): Axis[] {
  const first = 2 + random.below(12);
  const extents = single
    ? [8 + random.below(24)]
    : random.pick([[first, Math.floor(count / first)], [count], [3, first, Math.floor(count / 3 / first)]]);
  return extents.map((extent, k) => {
    const stride = extents.slice(k + 1).reduce((product, each) => product * each, 1);
    const div = random.pick([1, 1, 1, 1, 2, 3]);
    const coeffs = Array.from({ length: DIGITS }, (_, digit) => ({
      digit,
      coeff: random.pick(random.below(60) === 0 ? [-(2 ** 31), 2 ** 31 - 1] : [-7, -2, -1, -1, 0, 1, 1, 1, 2, 3]),
    })).filter(() => random.below(3) > 0);
    const middle = extent >> 1;
    const base = random.pick([0, middle, middle, -1, extent - 1, random.below(extent), -random.below(20)]) * div;
    const reads = indirect !== undefined && random.below(2) === 0 ? { indirect } : {};
    return { extent, stride, base, div, coeffs, ...reads };
  });
}

/** Read 0 is of integers; later reads may use it as an index, two read the same input. */
function readsOf(random: Prng, single: boolean): Read[] {
  const index = { input: 0, axes: axesOf(random, INPUTS[0]!.count, single, undefined) };
  const others = Array.from({ length: 3 }, (): Read => {
    const input = random.below(INPUTS.length);
    return { input, axes: axesOf(random, INPUTS[input]!.count, single, 0) };
  });
  return [index, ...others, { input: 1, axes: [] }];
}

const plain = (change: Partial<Axis>): Axis => ({ extent: 4, stride: 1, base: 0, div: 1, coeffs: [], ...change });
const coeffs = (...digits: number[]): Axis["coeffs"] => digits.map((digit) => ({ digit, coeff: -1 }));

/** Lists that are accepted, and lists with a single mistake. */
const LISTS: readonly List[] = [
  ...Array.from({ length: 12 }, (_, k) => bodyOf(readsOf(new Prng(560 + k), false))),
  ...[0, 1, 16, 17].map((count) => bodyOf(Array.from({ length: count }, () => ({ input: 3, axes: [] })))),
  ...[3, 4, 255].map((input) => bodyOf([{ input, axes: [] }])),
  ...[8, 9].map((count) => bodyOf([{ input: 1, axes: Array.from({ length: count }, () => plain({})) }])),
  ...[0, 1, 500, 501].map((extent) => bodyOf([{ input: 1, axes: [plain({ extent })] }])),
  ...[0, 1, 2 ** 32 - 1].map((div) => bodyOf([{ input: 1, axes: [plain({ div })] }])),
  ...[498, 499, 2 ** 32 - 1].map((stride) =>
    bodyOf([{ input: 1, axes: [plain({ extent: 2, stride }), plain({ extent: 2 })] }]),
  ),
  bodyOf([{ input: 1, axes: [plain({ extent: 2 ** 32 - 1, stride: 2 ** 32 - 1 }), plain({ extent: 2 ** 32 - 1 })] }]),
  ...[[0, 1, 2], [0, 0], [1, 0], [2], [3], [0, 3]].map((each) =>
    bodyOf([{ input: 1, axes: [plain({ coeffs: coeffs(...each) })] }]),
  ),
  // An index that is the read itself, a later one, one of floats, one that is no integer, one with an index.
  ...[0, 1, 2, 254].map((indirect) =>
    bodyOf([0, 0, 2].map((input, k) => ({ input, axes: [plain(k === 1 ? { indirect } : {})] }))),
  ),
  ...[0, 1, 2, 3].map((indirect) =>
    bodyOf([
      { input: 0, axes: [plain({})] },
      { input: 1, axes: [plain({})] },
      { input: 2, axes: [plain({}), plain({ indirect: 0 }), plain({})] },
      { input: 3, axes: [plain({}), plain({ indirect })] },
      { input: 3, axes: [plain({ indirect: 0 })] },
    ]),
  ),
].map((body) => ({ inputs: INPUTS, digits: DIGITS, body }));

/** Placements: of all chunks, of some, along each digit and along none. */
const PLACEMENTS: readonly Placement[] = Array.from({ length: 80 }, (_, k) => {
  const random = new Prng(900 + k);
  const values = Array.from({ length: DIGITS }, () => random.below(6));
  const whole = INPUTS.map(({ dtype, count }) =>
    Array.from({ length: Math.ceil((count * dtypeBytes(dtype)) / 512) }, (_, chunk) => chunk),
  );
  const opened = whole.map((all) => {
    const left = random.below(all.length);
    return k % 4 < 2 ? all : k % 4 === 2 ? all.filter((chunk) => chunk !== left) : all.slice(left);
  });
  const body = bodyOf(readsOf(random, k >= 40));
  return { inputs: INPUTS, digits: DIGITS, body, values, along: random.below(4), terms: 1 + random.below(40), opened };
});

/** The bytes of every tensor, here and in the model. An index read gives them as integers. */
const elementAt = (k: number): number => ((7 * k + 3) % 11) - 5;

const listOf = (items: readonly (bigint | number | string)[]): string => `[${items.join("; ")}]`;
const load = ({ body }: List): string => `(load_of 0x${Buffer.from(body).toString("hex")} ${body.length})`;
const readOf = (list: List): string => {
  const counts = listOf(list.inputs.map(({ count }) => count));
  const integers = listOf(list.inputs.map(({ dtype }) => `${isSigned(dtype)}`));
  return (
    `read ${load(list)} ${list.inputs.length} (fun k => nth (Z.to_nat k) ${counts} 0) ` +
    `(fun k => nth (Z.to_nat k) ${integers} false) ${list.digits} 0`
  );
};
const argument = ({ inputs, body }: List): object => ({
  body: toHex(body),
  types: inputs.map(({ dtype }) => dtype),
  counts: inputs.map(({ count }) => BigInt(count)),
});

/** Definitions of Coq for the terms: words of a body, and the placements of a list of views. */
export const VIEW_DEFINITIONS: readonly string[] = [
  "Definition load_of (body size p : Z) := Z.land (Z.shiftr (Z.shiftl body 320) (8 * (size - p) + 64)) (2 ^ 256 - 1).",
  "Definition element_at (k : Z) : Z := (7 * k + 3) mod 11 - 5.",
  `Fixpoint place_all (load digits : Z -> Z) (along terms : Z) (tensors : list (Z * list Z))
  (seen placements : list (Z * Z * Z)) (l : list view) : option (list (Z * Z * Z)) :=
  match l with
  | [] => Some placements
  | v :: rest =>
    let views := fun k => nth (Z.to_nat k) seen (0, 0, 1) in
    match place load digits along terms views (Z.to_nat (axisCount v)) (axes v) with
    | OnFill stay =>
      place_all load digits along terms tensors (seen ++ [(0, 0, stay)]) (placements ++ [(W - 1, 0, stay)]) rest
    | OnElement e s stay =>
      let '(log2Bytes, numbers) := nth (Z.to_nat (input v)) tensors (0, []) in
      let number := fun k => nth (Z.to_nat k) numbers 0 in
      let chunks := Z.of_nat (length numbers) in
      match placeOnElement log2Bytes 0 chunks number (opened 0 chunks number) e s stay with
      | Some (pointer, step, stay, _) =>
        place_all load digits along terms tensors (seen ++ [(element_at e, step, stay)])
          (placements ++ [(pointer, step, stay)]) rest
      | None => None
      end
    end
  end.`,
  `Definition placed_words (terms : Z) (placements : list (Z * Z * Z)) : list Z :=
  let common := fold_right (fun '(_, _, stay) least => Z.min stay least) terms placements in
  common :: flat_map (fun '(pointer, step, stay) => [pointer; step; stay]) placements
    ++ flat_map (fun '(pointer, step, stay) =>
         [pointerAfter pointer step (common - 1); sub stay (common - 1)]) placements.`,
];

/** The vectors of views, by the compared function. A list of words goes with its length. */
export const VIEW_VECTORS: readonly (readonly [string, Vectors])[] = [
  [
    "ViewDecoder.read",
    {
      term: `flat_map (fun l => Z.of_nat (length l) :: l) ${listOf(
        LISTS.map(
          (list) =>
            `match ${readOf(list)} with Some (l, after) => after :: Z.of_nat (length l) :: ` +
            "flat_map (fun v => [input v; axisCount v; axes v]) l | None => [] end",
        ),
      )}`,
      play: async (call) => {
        const words: bigint[] = [];
        for (const list of LISTS)
          words.push(...withLength(await call("ViewHarness", "read", [argument(list), BigInt(list.digits)])));
        return words;
      },
    },
  ],
  [
    "Views.placeAll",
    {
      term: `flat_map (fun l => Z.of_nat (length l) :: l) ${listOf(PLACEMENTS.map(placementTerm))}`,
      play: async (call) => {
        const words: bigint[] = [];
        for (const each of PLACEMENTS) {
          const tensors = each.inputs.map(({ dtype, count }) => {
            const bytes = Uint8Array.from({ length: count * dtypeBytes(dtype) }, (_, k) => elementAt(k));
            return { bytes, tree: () => tensorTree(bytes) };
          });
          const openings = tensors.map((tensor, k) => openChunks(tensor, each.opened[k]!));
          const roots = tensors.map((tensor): Hex => tensor.tree().root);
          const numbers = [each.values.map(BigInt), BigInt(each.along), BigInt(each.terms)];
          words.push(...withLength(await call("ViewHarness", "place", [argument(each), ...numbers, roots, openings])));
        }
        return words;
      },
    },
  ],
];

/** A list of words, or none for a call that reverts. */
function withLength(words: unknown): bigint[] {
  const found = (words as readonly bigint[] | undefined) ?? [];
  return [BigInt(found.length), ...found];
}

function placementTerm(each: Placement): string {
  const tensors = each.inputs.map(({ dtype }, k) => `(${Math.log2(dtypeBytes(dtype))}, ${listOf(each.opened[k]!)})`);
  return (
    `match ${readOf(each)} with Some (l, _) => match place_all ${load(each)} ` +
    `(fun k => nth (Z.to_nat k) ${listOf(each.values)} 0) ${each.along} ${each.terms} ${listOf(tensors)} [] [] l ` +
    `with Some placements => placed_words ${each.terms} placements | None => [] end | None => [] end`
  );
}
