/** The models in `proofs`, and their text without proofs, so that a changed one can be computed without the proofs. */
import { FILES, THEOREMS } from "../theorems.ts";

/** The definitions of each file of `proofs` that repeat functions of the contracts. */
export const MODELS: Readonly<Record<string, readonly string[]>> = {
  Rounding: ["roundBits"],
  Format: ["highest", "lowest", "SIGN", "INFINITY", "NAN"],
  RoundTo: ["withSign", "roundTo"],
  Decode: [
    ...["magnitudeBits", "isNaNWord", "isInfiniteWord", "isNegativeWord", "infinityOf", "canonical", "decode"],
    ...["decodeSigned", "order"],
  ],
  Arithmetic: [
    ...["roundSigned", "shlInt", "addFinite", "addWords", "subWords", "mulWords", "divWords", "negWord", "absWord"],
    ...["minWords", "maxWords", "eqWords", "ltWords", "leWords"],
  ],
  Convert: ["convertWord", "castInteger"],
  Sum: ["NAN32", "INFINITY32", "NEG_INFINITY32", "roundWords"],
  Products: [
    ...["FIELD", "FRACTION", "LEADING_BIT", "MAGNITUDE", "SIGN32", "ACC_WINDOWS", "LOW_HALF", "product"],
    ...["addToWindow", "addProduct", "addProducts", "special", "roundSum", "dot"],
  ],
  Mul: ["roundToFloat32", "decode", "isNaN32", "isZero32", "areFinite", "mul32"],
  Float32: [
    ...["WORD", "isInfinite32", "isNegative32", "areNumbers", "canonical32", "applySign", "decodeSigned32", "order32"],
    ...["roundSigned32", "addSpecial", "add32", "sub32", "div32", "neg32", "abs32", "min32", "max32", "eq32", "lt32"],
    ...["le32"],
  ],
  Merkle: ["climb", "depth", "rootFromPath", "nodeUnder", "leafUnder"],
};

/** The sentences of each file, from the text of `statements.v`. */
export function sentencesOf(statements: string): ReadonlyMap<string, readonly string[]> {
  const parts = statements.split(/^\(\* (\w+)\.v \*\)$/m).slice(1);
  return new Map(FILES.map((file) => [file, (parts[parts.indexOf(file) + 1] ?? "").trim().split("\n")]));
}

/** The name that a sentence defines. */
export const nameIn = (sentence: string): string | undefined =>
  /^(?:Definition|Fixpoint|Notation|Variables?|Hypothesis|Theorem) (\w+)/.exec(sentence)?.[1];

/** The files of `proofs` that a file imports, in its order. */
const importsOf = (sentences: readonly string[]): string[] =>
  sentences.flatMap((each) => /^Require Import (.*)\.$/.exec(each)?.[1]!.split(" ") ?? []).filter(isOwn);
const isOwn = (file: string): boolean => FILES.includes(file);

/** The files of `proofs` that a file needs, itself too. */
export function needs(sentences: ReadonlyMap<string, readonly string[]>, file: string): Set<string> {
  return new Set([file, ...importsOf(sentences.get(file)!).flatMap((each) => [...needs(sentences, each)])]);
}

const MAIN = new Set(THEOREMS.map(({ name }) => name));

/** A file as a module of definitions, without theorems. */
export const asModule = (file: string, sentences: readonly string[]): string =>
  inModule(
    file,
    sentences.filter((each) => {
      const name = nameIn(each);
      return !/^(Require|From|Import|Theorem|Set|Ltac)\b|\blemma\b/.test(each) && !(name && MAIN.has(name));
    }),
    sentences,
  );

/** A file as a module of its models alone, where one sentence is another. */
export function asMutant(file: string, sentences: readonly string[], sentence: string, other: string): string {
  const kept = sentences.filter((each) => {
    const name = nameIn(each);
    if (/^(Section|End|Variables?|Record) /.test(each)) return true;
    if (each.startsWith("Notation ")) return name !== undefined && NOTATIONS.has(name);
    return name !== undefined && /^(Definition|Fixpoint) /.test(each) && KEPT[file]!.has(name);
  });
  return inModule(
    file,
    kept.map((each) => (each === sentence ? other : each)),
    sentences,
  );
}

const KEPT = Object.fromEntries(Object.entries(MODELS).map(([file, names]) => [file, new Set(["empty", ...names])]));
const NOTATIONS = new Set([...Object.values(MODELS).flat(), "roundTo32", "prec", "emax"]);

function inModule(file: string, kept: readonly string[], all: readonly string[]): string {
  const imports = importsOf(all).map((each) => `Import ${each}.`);
  const start = `Module ${file}.\n${imports.join(" ")}\nImport ListNotations. Open Scope Z_scope.`;
  return [start, ...kept, `End ${file}.`].join("\n");
}
