/**
 * Characters that a terminal or a reader of a log does not show as they are: control characters (C0, DEL, C1), format
 * characters (among them the overrides of the writing direction), separators of lines, halves of surrogate pairs.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const NAMED: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The longest line that is printed, characters: an output that is delivered on chain, as hexadecimal digits, fits. */
const MAX_LINE = 2 ** 18;

/** The longest cell of a table, characters. */
const MAX_CELL = 1_000;

/**
 * A text from outside (a file, the chain, a node) as one line that a terminal shows as it is: what it would not show
 * stands as an escape, such as `\x1b` or `\u202e`. A printable text remains the same, so that escaping twice does no
 * harm.
 * @param max Characters that are shown; of a longer text only the beginning is, with an ellipsis.
 */
export function printable(text: string, max = MAX_LINE): string {
  // A long text is not read to its end.
  const shown = text.slice(0, max + 1).replace(HIDDEN, escapeOf);
  return shown.length > max ? `${shown.slice(0, max - 1)}\u2026` : shown;
}

function escapeOf(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0)!;
  const digits = code.toString(16);
  if (code > 0xffff) return `\\u{${digits}}`;
  return code > 0xff ? `\\u${digits.padStart(4, "0")}` : `\\x${digits.padStart(2, "0")}`;
}

/** JSON of which a terminal shows all characters as they are. It stands for the same value. */
export const printableJson = (json: string): string =>
  json.replace(HIDDEN, (character) => {
    // The line breaks between the parts of the value.
    if (character === "\n") return character;
    const units = Array.from({ length: character.length }, (_, k) => character.charCodeAt(k));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });

/** Where an error was thrown, a line for each call. The message, which may have more than one line, is left out. */
export function stackLines({ message, stack = "" }: Error): string[] {
  const end = Math.max(0, stack.indexOf(message)) + message.length;
  return stack.slice(end).split("\n").slice(1);
}

/** Rows in columns, each as wide as its widest cell. Cells are made printable. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => printable(cell, MAX_CELL)));
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, c) => (widths[c] = Math.max(widths[c] ?? 0, cell.length)));
  return cells.map((row) =>
    row
      .map((cell, c) => cell.padEnd(widths[c]!))
      .join("  ")
      .trimEnd(),
  );
}

/** A number of bytes in kB or MB. */
export function byteText(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
