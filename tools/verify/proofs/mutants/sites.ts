/** Small changes of the models in `proofs`: a constant, an operation, a comparison, a condition, an order. */
import { Prng } from "../../../../testkit/random/prng.ts";
import { MODELS, nameIn } from "./models.ts";

/** A changed model. */
export type Mutant = {
  readonly file: string;
  readonly model: string;
  /** The definition, and the changed definition. */
  readonly sentence: string;
  readonly other: string;
  /** What is changed, and the how many-th such change of the definition. */
  readonly change: string;
};

/** Identifies a mutant. */
export const nameOf = ({ file, model, change }: Mutant): string => `${file}.${model}: ${change}`;

const WORDS: Readonly<Record<string, readonly string[]>> = {
  "Z.land": ["Z.lor"],
  "Z.lor": ["Z.land"],
  "Z.lxor": ["Z.lor"],
  add: ["sub"],
  sub: ["add"],
  mul: ["add"],
  shl: ["shr"],
  shr: ["shl"],
  gt: ["(fun a b => gt b a)"],
  clz: ["Z.log2"],
  iszero: ["(eq 1)"],
  negb: ["(fun b : bool => b)"],
  xorb: ["orb"],
  true: ["false"],
  false: ["true"],
  NAN32: ["INFINITY32"],
  INFINITY32: ["NEG_INFINITY32", "NAN32"],
  NEG_INFINITY32: ["INFINITY32"],
  NAN: ["INFINITY"],
  INFINITY: ["NAN"],
};
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  "+": ["-"],
  "-": ["+"],
  "*": ["+"],
  "/": ["mod"],
  mod: ["/"],
  "<?": ["<=?"],
  "<=?": ["<?"],
  "=?": ["<=?"],
  "&&": ["||"],
  "||": ["&&"],
};

type Change = { readonly from: number; readonly to: number; readonly text: string };

/** All small changes of all models. */
export function mutantsOf(sentences: ReadonlyMap<string, readonly string[]>): Mutant[] {
  return Object.entries(MODELS).flatMap(([file, names]) =>
    names.flatMap((model) => {
      const sentence = sentences.get(file)!.find((each) => /^(Def|Fix)/.test(each) && nameIn(each) === model);
      if (sentence === undefined) throw new Error(`proofs/${file}.v defines no ${model}`);
      const start = sentence.indexOf(":=") + 2;
      const seen = new Map<string, number>();
      return changesOf(sentence, start).map(({ from, to, text }): Mutant => {
        const words = `${sentence.slice(from, to).trim()} -> ${text.trim()}`;
        const nth = (seen.get(words) ?? 0) + 1;
        seen.set(words, nth);
        const other = sentence.slice(0, from) + text + sentence.slice(to);
        return { file, model, sentence, other, change: nth === 1 ? words : `${words} (${nth})` };
      });
    }),
  );
}

/** @param count How many mutants the seed draws; all if there are fewer. */
export function draw(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const prng = new Prng(seed);
  const left = [...mutants];
  const drawn: Mutant[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(...left.splice(prng.below(left.length), 1));
  return drawn;
}

function changesOf(sentence: string, start: number): Change[] {
  const changes: Change[] = [];
  const add = (pattern: RegExp, texts: (found: string) => readonly string[]): void => {
    for (const match of sentence.matchAll(pattern)) {
      const [from, to] = [match.index, match.index + match[0].length];
      if (from >= start) for (const text of texts(match[0])) changes.push({ from, to, text });
    }
  };
  add(/(?<![\w.'])(0x[0-9a-f]+|\d+)(?![\w'])/g, (literal) => [BigInt(literal) + 1n, BigInt(literal) - 1n].map(inText));
  add(/(?<![\w.'])(Z\.\w+|[A-Za-z]\w*)(?![\w'.]* :=|[\w'])/g, (word) =>
    Object.hasOwn(WORDS, word) ? WORDS[word]! : [],
  );
  add(
    /(?<=(?!\b(?:if|then|else|in)\b)\b[\w]+'? |\) )(\+|-|\*|\/|mod|<\?|<=\?|=\?|&&|\|\|)(?= )/g,
    (sign) => SIGNS[sign]!,
  );
  // Minus before a term.
  add(/(?<=\()- (?=\w)/g, () => [""]);
  for (const match of sentence.matchAll(/\bif\b/g)) {
    if (match.index < start) continue;
    const from = match.index + 3;
    const to = endOfCondition(sentence, from);
    changes.push({ from, to, text: `negb (${sentence.slice(from, to)})` });
  }
  return changes;
}

const inText = (value: bigint): string => (value < 0n ? `(${value})` : `${value}`);

/** Where the condition that begins at `from` ends: before its own `then`. */
function endOfCondition(sentence: string, from: number): number {
  let depth = 0;
  for (const match of sentence.slice(from).matchAll(/\b(if|then)\b/g)) {
    if (match[1] === "if") depth += 1;
    else if (depth === 0) return from + match.index - 1;
    else depth -= 1;
  }
  throw new Error(`a condition without an end: ${sentence}`);
}
