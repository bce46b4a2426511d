/** The theorems in `proofs`, in words, and their axioms. */

type Theorem = {
  readonly name: string;
  /** Its file in `proofs`, without the ending. */
  readonly file: string;
  /** The statement in words. */
  readonly says: string;
};

/** The main theorems. Lemmas are checked with them. */
export const THEOREMS: readonly Theorem[] = [
  {
    name: "dot_correct",
    file: "Dot",
    says:
      "the word for a sum of at most 2^80 products of float32: NaN after a product that is NaN or infinities of both " +
      "signs, else any infinity, else the real sum of the real products, rounded once",
  },
  {
    name: "dot_continued",
    file: "Dot",
    says: "a sum that goes on from the sum of other products has the word of all products",
  },
  {
    name: "dot_flocq",
    file: "Mul",
    says: "without such products, the word is that of Flocq's `Binary.binary_normalize` for the exact sum",
  },
  {
    name: "mul_correct",
    file: "Mul",
    says:
      "the word for a product of float32: NaN, an infinity with the product's sign, or the real product, " +
      "rounded once",
  },
  {
    name: "mul_flocq",
    file: "Mul",
    says: "the word is that of Flocq's `Bits.b32_mult` to nearest, ties to even, with one NaN and one zero",
  },
  {
    name: "roundToFloat32_correct",
    file: "Mul",
    says: "`roundToFloat32` rounds every real within its precondition once, sticky or not, of both signs",
  },
  ...["float16", "bfloat16", "float32", "float64"].map((type) => ({
    name: `roundTo_${type}`,
    file: "RoundTo",
    says: `\`roundTo\` rounds every real within its precondition once to ${type}`,
  })),
  ...["add", "sub", "mul", "div"].map((name) => ({
    name: `${name}_correct`,
    file: "Arithmetic",
    says:
      `\`Float.${name}\` of each float type is the real result, rounded once; ` +
      "its NaN, infinities and zero by rule",
  })),
  ...["lt", "le", "eq"].map((name) => ({
    name: `${name}_correct`,
    file: "Arithmetic",
    says: `\`Float.${name}\` of each float type is Flocq's \`Binary.Bcompare\`, false for NaN`,
  })),
  ...["min", "max"].map((name) => ({
    name: `${name}_correct`,
    file: "Arithmetic",
    says: `\`Float.${name}\` of each float type chooses by \`Binary.Bcompare\`; NaN if either is`,
  })),
  {
    name: "neg_correct",
    file: "Arithmetic",
    says: "`Float.neg` of each float type is the opposite real or infinity",
  },
  {
    name: "abs_correct",
    file: "Arithmetic",
    says: "`Float.abs` of each float type is the absolute value of the real, or infinity",
  },
  {
    name: "canonical_correct",
    file: "Arithmetic",
    says: "`Float.canonical` keeps the number of a word, with one NaN and one zero",
  },
  ...["float16", "bfloat16", "float32", "float64"].map((type) => ({
    name: `arithmetic_${type}`,
    file: "Types",
    says: `these of \`Arithmetic\` hold of ${type}, with the constants of \`Float.sol\``,
  })),
  {
    name: "convert_correct",
    file: "Convert",
    says:
      "`Float.convert` from one float type to another is the word's real, rounded once; " + "infinities and NaN stay",
  },
  {
    name: "castInteger_correct",
    file: "Convert",
    says: "`Cast.cast` of an integer of at most 64 bits to a float type is the integer, rounded once",
  },
  ...["add", "sub", "div", "lt", "le", "eq", "min", "max", "neg", "abs"].map((name) => ({
    name: `${name}_correct32`,
    file: "Float32",
    says: `\`Float32.${name}\` satisfies the same as \`Float.${name}\``,
  })),
  {
    name: "sqrt_correct32",
    file: "Sqrt",
    says: "`Float32.sqrt` is the root of the real, rounded once; NaN below zero; infinity and NaN stay",
  },
  ...[
    ["floor", "Zfloor"],
    ["ceil", "Zceil"],
    ["round", "ZnearestE"],
  ].map(([name, integer]) => ({
    name: `${name}_correct32`,
    file: "Integral",
    says: `\`Float32.${name}\` is the integer by Flocq's \`${integer}\`; infinities and NaN stay`,
  })),
  {
    name: "sign_correct32",
    file: "Integral",
    says: "`Float32.sign` is -1, 0 or 1 by the sign of the real or infinity; NaN stays",
  },
  {
    name: "float32_ir",
    file: "Bridge",
    says:
      "each function of `Float32.sol` of the first class below, in the compiler's intermediate code, is its model " +
      "on all words",
  },
  {
    name: "leafUnder_fixes",
    file: "Merkle",
    says:
      "an opening that `PositionalMerkle.leafUnder` accepts under the root of a list has an index below the width, " +
      "and the list's leaf at this index, or at one level the path's pair of nodes and the list's differ and have " +
      "the same hash",
  },
  {
    name: "leafUnder_accepts",
    file: "Merkle",
    says: "the path of every leaf of a list is accepted",
  },
  {
    name: "read_correct",
    file: "Reads",
    says:
      "`ViewDecoder.read` accepts a list of views if and only if there are at most 16 and each is well formed by " +
      "docs/program.md, fill values apart; it gives the input and axes of the views, which lie in the body one " +
      "behind the other",
  },
  {
    name: "view_inside",
    file: "Reads",
    says: "whatever the digits and index reads, a well-formed view's element is inside its input, or is the fill value",
  },
  {
    name: "view_divides",
    file: "Reads",
    says:
      "no axis of a well-formed view divides by zero, and its index reads are earlier reads of integers, none with " +
      "an index read of its own",
  },
  {
    name: "place_correct",
    file: "Views",
    says:
      "given the integers of its index reads, for every term that a placement by `Views._place` holds for, its " +
      "element is the one of docs/program.md (the axes' coordinates times their strides), or the fill value if and " +
      "only if a coordinate is out of bounds",
  },
  {
    name: "opened_correct",
    file: "Segments",
    says: "every byte of the segment after `Tensors.open`, which may be empty, has its address",
  },
  {
    name: "seek_correct",
    file: "Segments",
    says:
      "`Tensors.seek` finds a byte's segment among the opened chunks, or reverts if and only if its chunk is not " +
      "opened",
  },
  {
    name: "placeOnElement_correct",
    file: "Segments",
    says:
      "for every term that a placement holds for, the pointer is the address of the element's bytes in the opened " +
      "chunk of their number",
  },
  {
    name: "gadget_correct",
    file: "Gadget",
    says:
      "for a number within its declared bounds, whatever satisfies the constraints that `roundBits` of " +
      "`src/circuits/rounding.ts` emits, in a prime field of at least 2^253 elements, has the integer rounded to the " +
      "significant bits by Flocq, half to even, and the bit of its sign",
  },
  {
    name: "gadget_float32",
    file: "Gadget",
    says:
      "for a number of more than 24 bits, within declared bounds that `roundToFloat32` there accepts, the result is " +
      "the real, rounded once to float32",
  },
  {
    name: "rounds_to_unique",
    file: "Format",
    says: "at most one word is a given real, rounded once: where the theorems above apply, no other value is possible",
  },
];

/** The files of `proofs`, in an order for compiling: imports come first. */
export const FILES = [
  ...[
    "Evm",
    "Rounding",
    "Format",
    "RoundTo",
    "Decode",
    "Arithmetic",
    "Types",
    "Convert",
    "Sum",
    "Products",
    "Dot",
    "Mul",
  ],
  ...["Float32", "Sqrt", "Integral", "Signed", "Bridge", "Merkle", "Views", "Reads", "Segments", "Gadget"],
];

/** The file that the check makes from the compiler's intermediate code, for `Bridge`. */
export const IR = "Ir";

/** The axioms that a proof may use: those of Coq's real numbers, and classical logic. */
export const AXIOMS: ReadonlySet<string> = new Set([
  "ClassicalDedekindReals.sig_not_dec",
  "ClassicalDedekindReals.sig_forall_dec",
  "FunctionalExtensionality.functional_extensionality_dep",
  "Classical_Prop.classic",
]);

/** The README's sentence. */
export const SENTENCE =
  "That a float sum, product, quotient or conversion, and an unsplit sum of products of float32, is the real one, " +
  "rounded once, is proven on a model of the contracts. That the verifier equals the definition is tested, not proven.";
