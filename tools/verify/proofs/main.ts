/**
 * Checks the proofs of `proofs` with Coq and Flocq, the axioms that the main theorems use, that the statements are the
 * pinned ones, that every modelled function is the one that was modelled, and that the models give the words of
 * test/golden/proofs.json.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { file, flag, readOptions, whole } from "../../options.ts";
import { BYTES, bytesByBuild, bytesLine, keptBytes } from "./bytes.ts";
import { tryMutants } from "./mutants.ts";
import { coqVersion, proveAll } from "./prove.ts";
import { changedFunctions, FROM_IR, MODELLED } from "./modelled.ts";
import { AXIOMS, THEOREMS } from "./theorems.ts";
import { changedStatements, STATEMENTS, statements } from "./statements.ts";
import { GOLDEN, type ModelWords } from "./vectors.ts";

const { write, mutate, seed, json, ...more } = readOptions({
  write: flag(`write ${STATEMENTS}, the models' words to ${GOLDEN} and bytes to ${BYTES}, instead of comparing`),
  mutate: whole("instead, kills so many mutants of the modelled functions by operands with other words", 0),
  seed: whole("seed of the mutants that are drawn", 1),
  json: file("a file that keeps the mutants' verdicts: the next run goes on"),
  in: file("a folder that keeps the mutants' contracts and their build for the next run"),
});
if (mutate > 0) process.exit((await tryMutants({ count: mutate, seed, json, in: more.in })) ? 0 : 1);
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
    if (write) writeFileSync(GOLDEN, `${JSON.stringify(words, null, 1)}\n`);
    else all.push(...differences(words, JSON.parse(readFileSync(GOLDEN, "utf8")) as ModelWords));
  }
  if (all.length === 0) {
    for (const { name, says } of THEOREMS) console.log(`${name}: ${says}`);
    const functions = Object.values(MODELLED).flatMap((each) => Object.keys(each));
    console.log(`${THEOREMS.length} theorems about ${functions.length} functions modelled by hand, by Coq ${version}`);
    const ofIr = Object.values(FROM_IR).flat();
    console.log(`${ofIr.length} of these are their models in the compiler's intermediate code: ${ofIr.join(", ")}`);
    for (const [name, figures] of Object.entries(keptBytes())) console.log(`bytes of ${bytesLine(name, figures)}`);
    console.log(`axioms, at most: ${[...AXIOMS].join(", ")}`);
  }
  for (const problem of all) console.error(problem);
  process.exitCode = all.length === 0 ? 0 : 1;
}

function differences(found: ModelWords, golden: ModelWords): string[] {
  return Object.keys({ ...found, ...golden }).flatMap((name) =>
    found[name] === golden[name] ? [] : [`${GOLDEN} has other words of ${name} than the model`],
  );
}
