/** Coq on changed models: each is computed on the vectors until a word differs from Flocq's. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FILES } from "../theorems.ts";
import { asModule, asMutant, MODELS, needs, sentencesOf } from "./models.ts";
import { OBSERVED, vectorsText } from "./observed.ts";
import type { Mutant } from "./sites.ts";

/** A mutant, and the theorem that a vector refutes for the mutant; none for a survivor. */
export type Verdict = { readonly mutant: Mutant; readonly theorem: string | undefined };

type Sentences = ReturnType<typeof sentencesOf>;

const HEADER = [
  "Require Import ZArith Reals Bool List.",
  "From Flocq Require Import Core BinarySingleNaN Binary Bits.",
  "Import ListNotations. Open Scope Z_scope.",
].join("\n");
const IMPORTS = `Import ${FILES.join(" ")}. Open Scope Z_scope.`;
const HERE = "tools/verify/proofs/mutants";
const OPENINGS = "leafUnder_fixes, leafUnder_accepts";
/** Mutants a process: a process loads Flocq, some seconds. */
const AT_ONCE = 30;
const LIMIT_MS = 10 * 60_000;

/**
 * Tries mutants.
 * @param unchanged Whether the models themselves are tried first: a difference is an error in the vectors.
 * @throws Error if Coq refuses a text
 */
export function tryMutants(sentences: Sentences, mutants: readonly Mutant[]): Verdict[] {
  const folder = mkdtempSync(join(tmpdir(), "refute-mutants-"));
  try {
    run(folder, "Base", baseText(sentences));
    const self = checkOf(OBSERVED, true);
    if (run(folder, "Self", `${HEADER}\nRequire Import Base. ${IMPORTS}\n${self}`)[0] !== undefined)
      throw new Error("a model differs from Flocq on a vector: correct the vectors or the text of Flocq's words");
    const verdicts: Verdict[] = [];
    for (let first = 0; first < mutants.length; first += AT_ONCE) {
      const some = mutants.slice(first, first + AT_ONCE);
      const text = some.map((mutant, k) => mutantText(sentences, mutant, k)).join("\n");
      const found = run(folder, `Some${first}`, `${HEADER}\nRequire Import Base.\n${text}`);
      if (found.length !== some.length) throw new Error(`${found.length} verdicts on ${some.length} mutants`);
      verdicts.push(...some.map((mutant, k) => ({ mutant, theorem: found[k] })));
    }
    return verdicts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function baseText(sentences: Sentences): string {
  const words = OBSERVED.map(
    ({ flocq, vectors }, k) => `Definition words_${k} := Eval vm_compute in map (${flocq}) ${vectors}.`,
  );
  const [evm, ...modules] = FILES.map((file) => asModule(file, sentences.get(file)!));
  const [fast, reference] = ["words", "flocq"].map((name) => readFileSync(`${HERE}/${name}.v`, "utf8"));
  return [
    HEADER,
    evm!.replace(/^(Module|End) Evm\./gm, "$1 Slow."),
    fast,
    ...modules,
    IMPORTS,
    reference,
    vectorsText(),
    ...words,
  ].join("\n");
}

function mutantText(sentences: Sentences, { file, sentence, other }: Mutant, k: number): string {
  const changed = FILES.filter((each) => each in MODELS && needs(sentences, each).has(file));
  const modules = changed.map((each) => asMutant(each, sentences.get(each)!, sentence, other));
  const observed = OBSERVED.filter((each) => changed.includes(each.file));
  const check = checkOf(observed, changed.includes("Merkle"));
  return `Module M${k}.\n${modules.join("\n")}\n${IMPORTS}\n${check}\nEnd M${k}.`;
}

/** Prints the number of the first comparison that finds a difference; -1 for none. Openings have the last number. */
function checkOf(observed: readonly (typeof OBSERVED)[number][], openings: boolean): string {
  const all = observed.map((each) => {
    const k = OBSERVED.indexOf(each);
    return `(${k}, fun _ => wrong (${each.model}) ${each.vectors} words_${k} 0)`;
  });
  const last = `(${OBSERVED.length}, fun _ => wrongOpening (leafUnder pairing) openings roots verdicts 0)`;
  return `Eval vm_compute in (firstOf [${[...all, ...(openings ? [last] : [])].join("; ")}]).`;
}

/** @returns the theorems of the printed numbers */
function run(folder: string, name: string, text: string): (string | undefined)[] {
  writeFileSync(join(folder, `${name}.v`), text);
  const limits = { timeout: LIMIT_MS, maxBuffer: 2 ** 26 };
  const { status, stdout, stderr, error } = spawnSync("coqc", ["-q", `${name}.v`], {
    cwd: folder,
    encoding: "utf8",
    ...limits,
  });
  if (status !== 0) throw new Error(`Coq on mutants: ${error?.message ?? stderr}`);
  return [...stdout.matchAll(/= (-?\d+)\s*: Z/g)].map(([, number]) => {
    const k = Number(number);
    return k < 0 ? undefined : k === OBSERVED.length ? OPENINGS : OBSERVED[k]!.theorem;
  });
}
