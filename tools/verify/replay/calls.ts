import { readFileSync, writeFileSync } from "node:fs";
import type { Hex } from "viem";

/** A contract that a test created: the artifact's name, the constructor's arguments and the address. */
export type Creation = { contract: string; args: Hex; address: Hex };

export type Outcome = { returns: Hex } | { reverts: Hex };

/** A passing test's call, with the call's outcome. */
export type Call = {
  /** The number of the recorded chain. */
  chain: number;
  /** File and full title. */
  test: string;
  /** Index of the contract among the chain's creations; undefined for a creation that fails. */
  to?: number;
  /** Artifact of the contract. */
  contract: string;
  data: Hex;
  outcome: Outcome;
};

/** Calls without changes, and their chains' contracts in creation order. */
export type Recording = { chains: readonly (readonly Creation[])[]; calls: readonly Call[] };

/** Writes a recording: a line for the chains, then one for each call. */
export function writeRecording(file: string, { chains, calls }: Recording): void {
  writeFileSync(file, [chains, ...calls].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

export function readRecording(file: string): Recording {
  const [chains, ...calls] = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { chains, calls } as Recording;
}

/** The calls of each test, in random order, the same for the same seed: numbers in the recording. */
export function shuffled({ calls }: Recording, seed: number): Map<string, number[]> {
  const key = (n: number): number =>
    (Math.imul(n + 1 + seed * 7_919, 0x9e3779b1) ^ Math.imul(n + seed, 0x85ebca6b)) >>> 0;
  const tests = new Map<string, number[]>(calls.map(({ test }) => [test, []]));
  for (const n of calls.map((_, k) => k).sort((a, b) => key(a) - key(b))) tests.get(calls[n]!.test)!.push(n);
  return tests;
}
