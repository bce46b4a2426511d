import type { Bug } from "./bug.ts";

/**
 * A file of contracts with all its bugs in it.
 * @param bugs All bugs: the number of one is its place, from 1 on.
 * @throws Error if a bug's text does not occur once
 */
export function withBugs(text: string, file: string, bugs: readonly Bug[]): string {
  const here = bugs
    .map((bug, index) => ({ ...bug, on: `Planted.on(${index + 1})` }))
    .filter((bug) => bug.file === file);
  if (here.length === 0) return text;
  for (const { find, by, on } of here) text = edit(text, file, find, by.replace(/\bON\b/g, on));
  return imports(text, `${"../".repeat(file.split("/").length - 2)}Planted.sol`.replace(/^P/, "./P"));
}

/** @throws Error unless `find` occurs once. */
export function edit(text: string, file: string, find: string, by: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of: ${find}`);
  return parts.join(by);
}

/** Adds an import of the contract that knows which bug is active. */
export function imports(text: string, path: string): string {
  const [pragma] = /^pragma solidity .*;\n/m.exec(text)!;
  return edit(text, path, pragma, `${pragma}\nimport {Planted} from "${path}";\n`);
}
