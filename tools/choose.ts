import type { Program } from "./programs.ts";

/** What a call asks for: a program and its options, a list of programs, or nothing that exists. */
type Choice =
  | { kind: "program"; program: Program; options: readonly string[] }
  | { kind: "list"; programs: readonly Program[] }
  | { kind: "unknown"; name: string; nearest: string };

/** Chooses among programs by the words of a call. A longer name goes before a shorter one. */
export function choose(programs: readonly Program[], words: readonly string[]): Choice {
  const [first] = programs;
  if (first?.name === "") return { kind: "program", program: first, options: words };
  const asksForHelp = words.length === 0 || /^(-h|--help)$/.test(words[0]!);
  if (asksForHelp) return { kind: "list", programs };
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    const program = programs.find((each) => each.name === name);
    if (program !== undefined) return { kind: "program", program, options: words.slice(length) };
  }
  const within = programs.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (within.length > 0 && (words.length === 1 || words[1]!.startsWith("-"))) return { kind: "list", programs: within };
  const name = words.slice(0, within.length > 0 ? 2 : 1).join(" ");
  return { kind: "unknown", name, nearest: nearest(name, programs) };
}

/** The name that takes the fewest changes of letters. */
function nearest(name: string, programs: readonly Program[]): string {
  const changes = programs.map((program) => changesBetween(name, program.name));
  return programs[changes.indexOf(Math.min(...changes))]!.name;
}

/** How many letters must be added, left out or replaced to make one word of another (Levenshtein's distance). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, k) => k);
  for (const letter of from)
    row = row.reduce<number[]>((next, above, k) => {
      const replaced = k === 0 ? Infinity : row[k - 1]! + (letter === to[k - 1] ? 0 : 1);
      return [...next, Math.min(replaced, above + 1, (next.at(-1) ?? Infinity) + 1)];
    }, []);
  return row.at(-1)!;
}

/** One line a program: its name, and what it does. */
export function linesOf(programs: readonly Program[]): string[] {
  const width = Math.max(...programs.map(({ name }) => name.length));
  return programs.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`);
}
