import { printable, printableJson } from "../text.ts";

/*
 * All that commands print goes through here, line by line. What is between the breaks of a line may hold text from
 * outside (names in a model, a path, what a node or a contract says), so that all of it is made printable: such a text
 * can neither command the terminal nor begin a line of its own. A writer that takes a whole page could not tell its
 * breaks from forged ones, and an escape at each of the places that insert a text would be forgotten at one of them.
 */

/** The longest message of an error, characters. */
const MAX_MESSAGE = 4_000;

/** Prints a line, or several, on stdout. */
export function print(lines: string | readonly string[]): void {
  console.log(
    [lines]
      .flat()
      .map((line) => printable(line))
      .join("\n"),
  );
}

/** Prints a value on stdout as JSON. @param ofBigint What a bigint becomes, by default text. */
export function printJson(value: unknown, ofBigint: (number: bigint) => unknown = String): void {
  const text = (_key: string, part: unknown): unknown => (typeof part === "bigint" ? ofBigint(part) : part);
  console.log(printableJson(JSON.stringify(value, text, 2)));
}

/** Prints a line, or several, on stderr: warnings, and what failed. */
export function printError(lines: string | readonly string[]): void {
  console.error(
    [lines]
      .flat()
      .map((line) => printable(line, MAX_MESSAGE))
      .join("\n"),
  );
}
