/** The facts that a release fixes for others, read from the committed files. */
import { readdirSync, readFileSync } from "node:fs";
import { SEMANTICS_VERSION } from "../../src/program/encode.ts";

const ROOTS = "test/golden/programRoots.json";
const GAS = "test/golden/gas.json";
const INTERFACES = "src/chain/abi";
const SNAPSHOTS = "test/contracts/snapshots";

/**
 * A release's state. `semantics`: version in the program headers. `roots`: each model's program root. `interfaces`: the
 * ABI lines of each contract. `gas`: every figure in the gas file, by place. `storage`: the storage layout's lines of
 * each contract.
 */
export type ReleaseState = {
  semantics: number;
  roots: Record<string, string>;
  interfaces: Record<string, string[]>;
  gas: Record<string, number>;
  storage: Record<string, string[]>;
};

/** A release's state, with the package.json version recorded for the release. */
export type ReleaseRecord = ReleaseState & { version: string };

/** Reads the state from the working tree. */
export function currentState(): ReleaseState {
  return {
    semantics: SEMANTICS_VERSION,
    roots: JSON.parse(readFileSync(ROOTS, "utf8")) as Record<string, string>,
    interfaces: eachFile(INTERFACES, ".ts", abiLines),
    gas: figuresOf(JSON.parse(readFileSync(GAS, "utf8"))),
    storage: eachFile(SNAPSHOTS, ".txt", storageLines),
  };
}

/** The signatures in a generated ABI file. */
export const abiLines = (source: string): string[] => [...source.matchAll(/^ {2}"(.*)",$/gm)].map(([, line]) => line!);

/** Returns a snapshot's lines below the storage heading; none if the contract stores nothing. */
export function storageLines(snapshot: string): string[] {
  const [, below = ""] = snapshot.split(/^Storage\n/m);
  return below.split("\n").filter((line) => line.trim() !== "");
}

/** Returns each number in a value, by place: `jobs[ppocr2_cls].post`. Texts and number name a list's row. */
export function figuresOf(value: unknown, place = ""): Record<string, number> {
  if (typeof value === "number") return { [place]: value };
  if (typeof value !== "object" || value === null) return {};
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((row: unknown, index) => [`${place}[${rowName(row, index)}]`, row])
    : Object.entries(value).map(([key, field]) => [place === "" ? key : `${place}.${key}`, field]);
  return Object.assign({}, ...entries.map(([name, field]) => figuresOf(field, name))) as Record<string, number>;
}

function rowName(row: unknown, index: number): string {
  const texts = Object.values(row as object).filter((field): field is string => typeof field === "string");
  return [String(index), ...texts.slice(0, 1)].join(" ");
}

function eachFile(folder: string, extension: string, read: (text: string) => string[]): Record<string, string[]> {
  const names = readdirSync(folder).filter((name) => name.endsWith(extension));
  const entries = names
    .sort()
    .map((name) => [name.slice(0, -extension.length), read(readFileSync(`${folder}/${name}`, "utf8"))] as const);
  return Object.fromEntries(entries);
}
