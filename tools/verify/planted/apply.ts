import { dirname, relative } from "node:path/posix";
import type { Bug } from "./bug.ts";

/** A library of Solidity whose `on(id)` says whether a bug is active. */
export type Switch = { name: string; file: string };
/** The one of `Planted.sol`. */
export const PLANTED: Switch = { name: "Planted", file: "contracts/Planted.sol" };

/**
 * A file of contracts with all its bugs in it.
 * @param bugs All bugs: the number of one is its place, from 1 on.
 * @throws Error if a bug's text does not occur once
 */
export function withBugs(text: string, file: string, bugs: readonly Bug[], by = PLANTED): string {
  const here = bugs
    .map((bug, index) => ({ ...bug, on: `${by.name}.on(${index + 1})` }))
    .filter((bug) => bug.file === file);
  if (here.length === 0) return text;
  for (const bug of here) text = edit(text, file, bug.find, bug.by.replace(/\bON\b/g, bug.on));
  return imports(text, file, by);
}

/** @throws Error unless `find` occurs once. */
export function edit(text: string, file: string, find: string, by: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of: ${find}`);
  return parts.join(by);
}

/** Adds an import of the library that knows which bug is active. */
export function imports(text: string, file: string, { name, file: at }: Switch): string {
  const path = relative(dirname(file), at).replace(/^(?!\.)/, "./");
  const [pragma] = /^pragma solidity .*;\n/m.exec(text)!;
  return edit(text, file, pragma, `${pragma}\nimport {${name}} from "${path}";\n`);
}
