/** The Solidity tests: which of them `npm test` has time for, and what they import. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const SOLIDITY = "test/contracts/solidity";
const ROOT = resolve(import.meta.dirname, "../..");

/** Their handlers take minutes to compile: `npm run test:length` plays them. */
const AT_LENGTH = ["League.t.sol"];

/**
 * A file and all that it imports from this repository.
 * @param first Path from the repository's root.
 */
export function importsOf(first: string): Set<string> {
  const files = new Set<string>();
  const take = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, path] of text.matchAll(/^import [^"]*"(\.[^"]+)";/gm)) take(join(dirname(file), path!));
  };
  take(first);
  return files;
}

/**
 * Files for `hardhat test solidity`: the tests that compile in time, and their handlers, which the runner looks for
 * among the files that it is given.
 */
export function solidityTestsInTime(): string[] {
  const long = AT_LENGTH.map((name) => join(SOLIDITY, name));
  const all = globSync(`${SOLIDITY}/*.t.sol`).sort();
  const missing = long.filter((file) => !all.includes(file));
  if (missing.length > 0) throw new Error(`AT_LENGTH names files that are not there: ${missing.join(", ")}`);
  const isTest = (file: string): boolean =>
    /function (test|invariant)\w*\(/.test(readFileSync(join(ROOT, file), "utf8"));
  const tests = all.filter((file) => isTest(file) && !long.includes(file));
  const files = new Set(tests.flatMap((file) => [...importsOf(file)]));
  return all.filter((file) => files.has(file));
}
