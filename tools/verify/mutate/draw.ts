import type { Workspace } from "../instrument/workspace.ts";
import { constantsOf, type Mutant } from "./schemata.ts";

/** For each of a copy's contracts, the names by which the contract reads constant numbers. */
export function constantsIn(workspace: Pick<Workspace, "files" | "read">): (file: string) => ReadonlySet<string> {
  const constants = workspace
    .files("contracts/**/*.sol")
    .map((file) => ({ file, all: constantsOf(workspace.read(file)) }));
  return (file) =>
    new Set(
      constants.flatMap(({ file: home, all }) =>
        all.map(({ contract, name }) => (home === file ? name : `${contract}.${name}`)),
      ),
    );
}

/** Draws at most `count` of the mutants, the same for the same seed. */
export function draw(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const key = ({ id }: Mutant): number => (Math.imul(id + seed * 7_919, 0x9e3779b1) >>> 0) / 2 ** 32;
  return [...mutants]
    .sort((a, b) => key(a) - key(b))
    .slice(0, count)
    .sort((a, b) => a.id - b.id);
}
