/** Coq on the files of `proofs`: all proofs, the axioms of the main theorems, and the models' words for vectors. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { translate } from "./ir.ts";
import { FROM_IR } from "./modelled.ts";
import { AXIOMS, FILES, IR, THEOREMS } from "./theorems.ts";
import { asText, DEFINITIONS, VECTORS, type ModelWords } from "./vectors.ts";

/** What Coq said. `words` is undefined where a proof failed. */
type Verdict = { readonly problems: readonly string[]; readonly words: ModelWords | undefined };

/** The version of Coq with Flocq, or undefined without either. */
export function coqVersion(): string | undefined {
  const { stdout, status } = coq(["--print-version"], ".");
  if (status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "refute-proofs-"));
  try {
    writeFileSync(join(folder, "Flocq.v"), "From Flocq Require Import Core.\n");
    return coq(["Flocq.v"], folder).status === 0 ? stdout.split(" ")[0] : undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Words that leave a hole in a proof, or state without one. */
const HOLE = /\b(Admitted|admit|Axioms?|Parameters?|Conjecture|bypass_check|Unset\s+(Guard|Positivity|Universe)\s)/;

/** Whether the text of a proof has a hole outside comments. */
export const hasHole = (text: string): boolean => HOLE.test(text.replace(/\(\*[\s\S]*?\*\)/g, ""));

/** Checks all proofs in a folder of its own, and computes the models' words. */
export function proveAll(): Verdict {
  const folder = mkdtempSync(join(tmpdir(), "refute-proofs-"));
  try {
    const wanted = Object.entries(FROM_IR).flatMap(([library, names]) => names.map((name) => `${library}_${name}`));
    const { text, refused } = translate(wanted);
    const [missing] = Object.entries(refused).filter(([name]) => wanted.includes(name));
    if (missing !== undefined) return failed(`${missing.join(" is not translated: ")}`);
    writeFileSync(join(folder, `${IR}.v`), text);
    for (const file of FILES.flatMap((each) => (each === "Bridge" ? [IR, each] : [each]))) {
      const name = `${file}.v`;
      if (file !== IR) cpSync(join("proofs", name), join(folder, name));
      if (hasHole(readFileSync(join(folder, name), "utf8"))) return failed(`proofs/${name} has a hole`);
      const { status, said } = coq(["-q", name], folder);
      if (status !== 0) return failed(`proofs/${name}: ${said}`);
    }
    writeFileSync(join(folder, "Check.v"), checkSource());
    const { status, said, stdout } = coq(["-q", "Check.v"], folder);
    return status === 0 ? judge(stdout) : failed(said);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const failed = (problem: string): Verdict => ({ problems: [problem], words: undefined });

/**
 * More than any file takes on a busy machine: A run without an end counts as a fault, and the command reports the
 * fault.
 */
const LIMIT_MS = 30 * 60_000;

function coq(options: readonly string[], cwd: string) {
  const limits = { timeout: LIMIT_MS, maxBuffer: 2 ** 26 };
  const { status, stdout, stderr, error } = spawnSync("coqc", options, { cwd, encoding: "utf8", ...limits });
  return { status, stdout: stdout ?? "", said: `${stdout}${stderr}${error?.message ?? ""}`.trim() };
}

function checkSource(): string {
  return [
    `Require Import ZArith Bool List ${FILES.join(" ")}.`,
    "Import ListNotations. Open Scope Z_scope.",
    // Together: each traversal of the proofs takes a second.
    `Definition theorems := (${THEOREMS.map(({ name, file }) => `@${file}.${name}`).join(", ")}).`,
    "Print Assumptions theorems.",
    ...DEFINITIONS,
    ...Object.values(VECTORS).map(({ term }) => `Eval vm_compute in (${term} : list Z).`),
    "",
  ].join("\n");
}

function judge(stdout: string): Verdict {
  const problems = [...stdout.matchAll(/^([A-Za-z_][\w.']*)\s*(?=:|$)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== "Axioms" && name !== "Closed" && !AXIOMS.has(name));
  if (!/^(Axioms:|Closed under the global context)/m.test(stdout)) problems.push("Coq prints no assumptions");
  const lists = [...stdout.matchAll(/= \[([-\d;\s]*)\]\s*: list Z/g)].map(([, items]) => items!.split(";").map(BigInt));
  const names = Object.keys(VECTORS);
  if (lists.length !== names.length) problems.push(`Coq gives ${lists.length} lists of words for ${names.length}`);
  const words = Object.fromEntries(names.map((name, k) => [name, asText(lists[k] ?? [])]));
  return { problems: [...new Set(problems)], words };
}
