/**
 * Checks the proofs of `proofs` with Coq and Flocq, the axioms that the main theorems use, that the statements are the
 * pinned ones, that every modelled function is the one that was modelled, and that the models give the words of
 * test/golden/proofs.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { flag, readOptions } from "../../options.ts";
import { BYTES, bytesByBuild, bytesLine, keptBytes } from "./bytes.ts";
import { coqVersion, proveAll } from "./prove.ts";
import { AXIOMS, changedFunctions, MODELLED, THEOREMS } from "./theorems.ts";
import { changedStatements, STATEMENTS, statements } from "./statements.ts";
import { GOLDEN, type ModelWords } from "./vectors.ts";

const { write } = readOptions({
  write: flag(`write ${STATEMENTS}, the models' words to ${GOLDEN} and bytes to ${BYTES}, instead of comparing`),
});
if (write) {
  writeFileSync(STATEMENTS, statements());
  const bytes = bytesByBuild();
  if (bytes === undefined) console.error(`${BYTES} is kept: the contracts are not built here`);
  else writeFileSync(BYTES, `${JSON.stringify(bytes, null, 2)}\n`);
}
const version = coqVersion();
if (version === undefined) {
  console.log("skipped: no Coq with Flocq here (Debian: apt-get install coq libcoq-flocq)");
} else {
  const { problems, words } = proveAll();
  const all = [...changedFunctions(), ...changedStatements(), ...problems];
  if (words !== undefined) {
    if (write) writeFileSync(GOLDEN, `${JSON.stringify(words)}\n`);
    else all.push(...differences(words, JSON.parse(readFileSync(GOLDEN, "utf8")) as ModelWords));
  }
  if (all.length === 0) {
    for (const { name, says } of THEOREMS) console.log(`${name}: ${says}`);
    const functions = Object.values(MODELLED).flatMap((each) => Object.keys(each));
    console.log(`${THEOREMS.length} theorems about ${functions.length} functions modelled by hand, by Coq ${version}`);
    for (const [name, figures] of Object.entries(keptBytes())) console.log(`bytes of ${bytesLine(name, figures)}`);
    console.log(`axioms, at most: ${[...AXIOMS].join(", ")}`);
  }
  for (const problem of all) console.error(problem);
  process.exitCode = all.length === 0 ? 0 : 1;
}

function differences(found: ModelWords, golden: ModelWords): string[] {
  return Object.entries(found).flatMap(([kind, words]) => {
    const kept = golden[kind] ?? [];
    const wrong = words.filter((word, k) => word !== kept[k]).length;
    const same = wrong === 0 && words.length === kept.length;
    return same ? [] : [`${GOLDEN} has other ${kind} than the model: ${wrong} words`];
  });
}
