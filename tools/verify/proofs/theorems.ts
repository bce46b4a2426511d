/** The theorems about the verifier's arithmetic in `proofs`, with their functions and axioms. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

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
  {
    name: "rounds_to_unique",
    file: "Format",
    says: "at most one word is a given real, rounded once: where the theorems above apply, no other value is possible",
  },
];

/** The files of `proofs`, in an order for compiling: imports come first. */
export const FILES = ["Evm", "Rounding", "Format", "RoundTo", "Sum", "Products", "Dot", "Mul"] as const;

/** The axioms that a proof may use: those of Coq's real numbers, and classical logic. */
export const AXIOMS: ReadonlySet<string> = new Set([
  "ClassicalDedekindReals.sig_not_dec",
  "ClassicalDedekindReals.sig_forall_dec",
  "FunctionalExtensionality.functional_extensionality_dep",
  "Classical_Prop.classic",
]);

/**
 * The functions of contracts/verifier that a definition in `proofs` models by hand, each with the hash of its text, and
 * the constants of their libraries. A changed function needs a changed model first.
 */
export const MODELLED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ExactSum: {
    constants: "2763337b59bb1eae",
    addProducts: "ddb92d6584dbc04d",
    round: "70e8d35936893ecb",
    special: "795d6725d7a811a2",
    _roundWords: "3883e82576afb02e",
  },
  Float: {
    roundTo: "8f754b7ba7e6b535",
  },
  Float32: {
    constants: "2a595614aca20a7e",
    roundToFloat32: "d0d61da938d26bd6",
    roundBits: "ab90aab560e6461b",
    leadingZeros: "8f8a2d9752ce15c4",
    isNaN: "42ef0ebb9bec41fe",
    decode: "1bb326321d4a8c4e",
    mul: "04342abb7ac7bc41",
    areFinite: "92573606939f7c30",
    isNegative: "fe50afbd57911848",
    isZero: "6226d4124afb31a8",
  },
  Format: {
    constants: "a0c38280f9ef3128",
    fractionBits: "118faa4550c881ae",
    highestExponent: "ccd9ef3b0a6b0083",
    lowestExponent: "28d5cbd3eb8ad0f4",
    sign: "47a3bb241cb035db",
    infinity: "e54a07d39f4a9f44",
    nan: "235a571f8cc31cf2",
  },
};

/** The README's sentence. */
export const SENTENCE =
  "That a product of two float32, and an unsplit sum of such products, is the real one, rounded once, is proven on a " +
  "model of the contracts. That the verifier equals the definition is tested, not proven.";

/** The functions whose text has changed since a model was written. Empty if all are. */
export function changedFunctions(read = (path: string): string => readFileSync(path, "utf8")): string[] {
  return Object.entries(MODELLED).flatMap(([library, functions]) => {
    const source = read(`contracts/verifier/${library}.sol`);
    return Object.entries(functions).flatMap(([name, hash]) => {
      const found = hashOf(source, name);
      return found === hash ? [] : [`${library}.${name} is ${found}, but ${hash} was modelled`];
    });
  });
}

/** The hash of a function's text, or of all constants of a library, without comments and spaces. */
function hashOf(source: string, name: string): string {
  const pattern =
    name === "constants" ? /^ .* constant .*$/gm : new RegExp(`\\n    function ${name}\\([^]*?\\n    \\}\\n`, "g");
  const text = (source.match(pattern) ?? []).join("");
  const bare = text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, "");
  return createHash("sha256").update(bare).digest("hex").slice(0, 16);
}
