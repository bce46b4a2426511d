/**
 * What the proofs say, without how: every definition, hypothesis, notation and theorem, in the order of the files. A
 * weaker theorem, or a weaker definition under the same theorem, is another text than the pinned one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FILES, THEOREMS } from "./theorems.ts";

/** The pinned text. */
export const STATEMENTS = "tools/verify/proofs/statements.v";

/** The text of all files of `proofs` without comments, proofs and lemmas; the main theorems of other files too. */
export function statements(read = (path: string): string => readFileSync(path, "utf8")): string {
  const parts = FILES.map((file) => [`(* ${file}.v *)`, ...spoken(read(join("proofs", `${file}.v`)))].join("\n"));
  return `${parts.join("\n\n")}\n`;
}

/** What is wrong with the statements: a text other than the pinned text, or a main theorem without a pinned text. */
export function changedStatements(read = (path: string): string => readFileSync(path, "utf8")): string[] {
  const [found, pinned] = [statements(read), read(STATEMENTS)].map((text) => text.split("\n")) as [string[], string[]];
  const other = (lines: readonly string[], of: readonly string[]): string[] => {
    const known = new Set(of);
    return lines.filter((line) => !known.has(line));
  };
  const problems = [
    ...other(found, pinned).map((line) => `not pinned in ${STATEMENTS}: ${line}`),
    ...other(pinned, found).map((line) => `pinned in ${STATEMENTS}, but not found: ${line}`),
  ];
  if (problems.length === 0 && found.join() !== pinned.join()) problems.push(`${STATEMENTS} has another order`);
  const text = found.join("\n");
  for (const { file, name } of THEOREMS) {
    const part = text.split(`(* ${file}.v *)`)[1]?.split("\n(* ")[0] ?? "";
    if (!new RegExp(`^(Theorem|Definition) ${name} `, "m").test(part))
      problems.push(`proofs/${file}.v: no theorem ${name}`);
  }
  return problems;
}

/** The sentences of a file that are neither in a proof nor a lemma, one a line. */
function spoken(text: string): string[] {
  const sentences = `${withoutComments(text)} `.split(/(?<=\.)\s+/).map((each) => each.replace(/\s+/g, " ").trim());
  let proving = false;
  return sentences.filter((sentence) => {
    if (proving) {
      proving = !/^(Qed|Defined)\.$/.test(sentence);
      return false;
    }
    proving = sentence === "Proof.";
    return sentence !== "" && !proving && !sentence.startsWith("Lemma ");
  });
}

/** Comments of Coq nest. */
function withoutComments(text: string): string {
  let depth = 0;
  return text
    .split(/(\(\*|\*\))/)
    .filter((part) => {
      if (part === "(*") depth += 1;
      const kept = depth === 0;
      if (part === "*)") depth -= 1;
      return kept;
    })
    .join("");
}
