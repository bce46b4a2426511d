/** Coq on the files of `proofs`: all proofs, the axioms of the main theorems, and the models' words for vectors. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AXIOMS, FILES, THEOREMS } from "./theorems.ts";
import { OPERATIONS, PAIRS, SUMS, type ModelWords } from "./vectors.ts";

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
    for (const file of FILES) {
      const name = `${file}.v`;
      if (hasHole(readFileSync(join("proofs", name), "utf8"))) return failed(`proofs/${name} has a hole`);
      cpSync(join("proofs", name), join(folder, name));
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
  const list = (items: readonly string[]): string => `[${items.join("; ")}]`;
  const pair = ([a, b]: readonly [bigint, bigint]): string => `(${a}, ${b})`;
  const rows = SUMS.flatMap((each) => each.rows);
  return [
    `Require Import ZArith List ${FILES.join(" ")}.`,
    "Import ListNotations. Open Scope Z_scope.",
    // Together: each traversal of the proofs takes a second.
    `Definition theorems := (${THEOREMS.map(({ name, file }) => `@${file}.${name}`).join(", ")}).`,
    "Print Assumptions theorems.",
    `Eval vm_compute in (map dot ${list(rows.map((row) => list(row.map(pair))))}).`,
    `Definition pairs := ${list(PAIRS.map(pair))}.`,
    ...OPERATIONS.map((name) => `Eval vm_compute in (map (fun t => ${name}32 (fst t) (snd t)) pairs).`),
    "",
  ].join("\n");
}

function judge(stdout: string): Verdict {
  const problems = [...stdout.matchAll(/^([A-Za-z_][\w.']*)\s*(?=:|$)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== "Axioms" && name !== "Closed" && !AXIOMS.has(name));
  if (!/^(Axioms:|Closed under the global context)/m.test(stdout)) problems.push("Coq prints no assumptions");
  const lists = [...stdout.matchAll(/= \[([\d;\s]*)\]\s*: list Z/g)].map(([, items]) => items!.split(";").map(Number));
  const words = Object.fromEntries(["sums", ...OPERATIONS].map((name, k) => [name, lists[k] ?? []]));
  return { problems: [...new Set(problems)], words };
}
