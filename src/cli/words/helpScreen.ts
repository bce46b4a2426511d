import { EXTRAS, WORDS, type Word } from "./words.ts";

/** The widest line of help. */
export const HELP_WIDTH = 80;

const MORE = ", ...";

/** The help of no command in particular: all words at the top, on a screen of 24 lines with the next prompt. */
export function helpScreen(): string {
  const rows = Object.entries(WORDS).flatMap(([group, words]) =>
    Object.entries(words).map(([name, word], k) => lineOf(k === 0 ? group : "", name, word)),
  );
  const usage = "Usage: refute COMMAND [SUBCOMMAND] [FLAGS] (all take --help, --json, --quiet)";
  return [usage, ...rows].join("\n");
}

/** Returns the help for a word that only names a noun: a line for each command. */
export function nounHelp(name: string, { about, commands = {}, usage = "COMMAND ...", related = [] }: Word): string {
  const width = Math.max(...Object.keys(commands).map((part) => part.length));
  const isExtra = Object.hasOwn(WORDS[EXTRAS]!, name);
  return [
    `Usage: refute ${name} ${usage}`,
    "",
    isExtra ? `${about} (an extra: a market works without it)` : about,
    "",
    "Commands:",
    ...Object.entries(commands).map(([part, word]) => `  ${part.padEnd(width)}  ${word.about}`),
    "",
    `refute ${name} COMMAND --help shows the flags of a command, and examples.`,
    ...(related.length === 0 ? [] : [`See also: ${related.map((other) => `refute ${other}`).join(", ")}`]),
  ].join("\n");
}

function lineOf(group: string, name: string, { about, load, usage, commands }: Word): string {
  const begin = `${group.padEnd(7)}  ${name.padEnd(7)}  `;
  if (commands === undefined) return begin + about;
  const isCommand = load !== undefined || usage !== undefined;
  const what = `${begin}${about}${isCommand ? "; also" : ""}: `;
  return what + namesWithin(HELP_WIDTH - what.length, Object.keys(commands));
}

/** Joins names with commas, up to the width of a line. */
function namesWithin(width: number, names: readonly string[]): string {
  const all = names.join(", ");
  if (all.length <= width) return all;
  const count = names.findLastIndex((_, k) => names.slice(0, k).join(", ").length + MORE.length <= width);
  return names.slice(0, count).join(", ") + MORE;
}
