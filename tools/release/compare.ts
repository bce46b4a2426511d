/** What changed since the last release, in words, and what about that is not in order. */
import type { ReleaseState } from "./state.ts";

/** The kinds of changes, by the words that the changelog names them with. */
export const KINDS = ["Program roots", "Contract interfaces", "Gas", "Storage"] as const;
type Kind = (typeof KINDS)[number];

type Change = { kind: Kind; what: string };

/** Every change of a state against that of the last release. */
export function changesSince(last: ReleaseState, now: ReleaseState): Change[] {
  const of = (kind: Kind, lines: readonly string[]): Change[] => lines.map((what) => ({ kind, what }));
  return [
    ...of("Program roots", rootChanges(last, now)),
    ...of("Contract interfaces", listChanges(last.interfaces, now.interfaces)),
    ...of("Gas", gasChanges(last.gas, now.gas)),
    ...of("Storage", listChanges(last.storage, now.storage)),
  ];
}

/**
 * What must be mended before a release: a kind of change that the changelog does not name, and program roots that
 * changed though the version of the semantics did not.
 * @param section The changelog's section for these changes; undefined if it has none.
 * @param version As in the heading of that section.
 */
export function problemsOf(
  last: ReleaseState,
  now: ReleaseState,
  changes: readonly Change[],
  section: string | undefined,
  version: string,
): string[] {
  if (section === undefined) return [`CHANGELOG.md has no section "## [${version}]": write one`];
  const unnamed = KINDS.filter((kind) => changes.some((change) => change.kind === kind) && !names(section, kind));
  const problems = unnamed.map(
    (kind) => `CHANGELOG.md does not name "${kind}" below "## [${version}]": say there what changed and for whom`,
  );
  const changed = Object.keys(last.roots).filter((name) => name in now.roots && now.roots[name] !== last.roots[name]);
  if (changed.length > 0 && last.semantics === now.semantics) {
    problems.push(
      `the roots of ${changed.length} programs changed, but the semantics version is still ${now.semantics}: ` +
        "raise SEMANTICS_VERSION, so that old and new clients tell each other's programs apart",
    );
  }
  return problems;
}

/**
 * A section of the changelog, without its heading.
 * @param version As in the heading `## [VERSION]`.
 * @returns undefined if there is none.
 */
export function changelogSection(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## \[/m).slice(1);
  const found = sections.find((section) => section.startsWith(`${version}]`));
  return found?.slice(found.indexOf("\n") + 1);
}

const names = (section: string, kind: Kind): boolean => new RegExp(`\\b${kind}\\b`).test(section);

function rootChanges(last: ReleaseState, now: ReleaseState): string[] {
  const version =
    last.semantics === now.semantics ? [] : [`the semantics version is ${now.semantics}; it was ${last.semantics}`];
  return [
    ...version,
    ...keysOf(last.roots, now.roots).flatMap((name) => {
      const [before, after] = [last.roots[name], now.roots[name]];
      if (before === after) return [];
      if (before === undefined) return [`${name} is new: ${after}`];
      if (after === undefined) return [`${name} is gone; its root was ${before}`];
      return [`${name} has another root: ${after}; it was ${before}`];
    }),
  ];
}

function gasChanges(last: Record<string, number>, now: Record<string, number>): string[] {
  return keysOf(last, now).flatMap((place) => {
    const [before, after] = [last[place], now[place]];
    if (before === after) return [];
    if (before === undefined) return [`${place} is new: ${text(after!)}`];
    if (after === undefined) return [`${place} is gone; it was ${text(before)}`];
    const percent = (((after - before) / before) * 100).toFixed(1);
    return [`${place} is ${text(after)}; it was ${text(before)} (${after > before ? "+" : ""}${percent} %)`];
  });
}

function listChanges(last: Record<string, string[]>, now: Record<string, string[]>): string[] {
  return keysOf(last, now).flatMap((name) => {
    const [before, after] = [last[name], now[name]];
    if (before === undefined) return [`${name} is new`];
    if (after === undefined) return [`${name} is gone`];
    const lines = [
      ...before.filter((line) => !after.includes(line)).map((line) => `${name} lost: ${line.trim()}`),
      ...after.filter((line) => !before.includes(line)).map((line) => `${name} has: ${line.trim()}`),
    ];
    const isReordered = lines.length === 0 && before.join("\n") !== after.join("\n");
    return isReordered ? [`${name} has its lines in another order`] : lines;
  });
}

const keysOf = (a: object, b: object): string[] => [...new Set([...Object.keys(a), ...Object.keys(b)])];
const text = (value: number): string => value.toLocaleString("en");
