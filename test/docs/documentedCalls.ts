import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { allCommands } from "../../src/cli/words/words.ts";

/** The pages whose commands are tested. */
export const PAGES = [
  ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [join("docs", name)] : [])),
  ...["README.md", "SECURITY.md", "CHANGELOG.md", "examples/iris/README.md"],
];

/** What begins a call of the command line, as pages write it. */
const REFUTE = /^(?:\$ )?(?:npx refute-ml|npm run (?:--silent )?refute --|refute) (.+)$/;

/** A word of a call; it may have spaces within quotes. */
const WORD = /"[^"]*"|\S+/g;

/** The lines of a page's blocks; a line that ends in a backslash goes on. */
export function blocksOf(page: string): string[] {
  const text = textOf(page);
  const lines = text.split("\n").flatMap((line) => (/^ {4,}\S/.test(line) ? [line.trim()] : []));
  const fenced = [...text.matchAll(/^ *```(?:sh|bash|console)?\n([^]*?)^ *```$/gm)].flatMap(([, block]) =>
    block!.split("\n").map((line) => line.trim()),
  );
  return [...lines, ...fenced];
}

/** The same, and all code within lines. */
export function codeOf(page: string): string[] {
  // A span may go on in the next line.
  const spans = [...textOf(page).matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, code]) => code!.replace(/\s*\n\s*/g, " "));
  return [...blocksOf(page), ...spans];
}

/** The words after `refute`, without comment; undefined of a line that is no call of it. */
export const callOf = (line: string): string[] | undefined =>
  REFUTE.exec(line)?.[1]?.split(" #")[0]?.match(WORD) ?? undefined;

const COMMANDS = new Set(allCommands().map((words) => words.join(" ")));

/** The command that words begin with: a noun and a word, or one word. */
export const commandOf = ([first = "", second = ""]: readonly string[]): string =>
  COMMANDS.has(`${first} ${second}`) ? `${first} ${second}` : first;

/** A call in a block of a page. */
export type DocumentedCall = {
  page: string;
  /** What the page has its reader export as the market; undefined of most. */
  market: string | undefined;
  call: string;
  words: readonly string[];
};

/** All calls in the pages' blocks. */
export const documentedCalls = (): DocumentedCall[] =>
  PAGES.flatMap((page) => {
    const blocks = blocksOf(page);
    // What a page has its reader export holds for its calls.
    const market = blocks.find((line) => line.startsWith("export REFUTE_MARKET="))?.split("=")[1];
    return blocks.flatMap((line) => {
      const words = callOf(line);
      return words === undefined ? [] : [{ page, market, call: words.join(" "), words }];
    });
  });

const textOf = (page: string): string => readFileSync(page, "utf8").replace(/\\\n */g, " ");
