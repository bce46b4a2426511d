import type { Bug } from "./bug.ts";

/**
 * Puts bugs into a contract's source, each under the condition `Mutants.on(id)`.
 * @param bugs All bugs; a bug's id is its place in the list, counted from 1.
 * @throws Error if a bug's text does not occur exactly once
 */
export function withBugs(text: string, file: string, bugs: readonly Bug[]): string {
  let changed = text;
  for (const [index, bug] of bugs.entries())
    if (bug.file === file)
      changed = edit(changed, file, bug.find, bug.by.replace(/\bON\b/g, `Mutants.on(${index + 1})`));
  return changed;
}

/** @throws Error unless `find` occurs once. */
export function edit(text: string, file: string, find: string, by: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of: ${find}`);
  return parts.join(by);
}
