/**
 * Characters that a terminal or log reader does not show literally: control characters (C0, DEL, C1), format characters
 * (including overrides of the writing direction), line separators, halves of surrogate pairs.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const NAMED: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The longest printed line, characters: an output delivered on chain, in hexadecimal digits, fits. */
const MAX_LINE = 2 ** 18;

/** The longest cell of a table, characters. */
const MAX_CELL = 1_000;

/**
 * Converts a text from outside (a file, the chain, a node) to one line that a terminal shows literally: hidden
 * characters become escapes, for example `\x1b` or `\u202e`. A printable text remains the same, and escaping twice
 * therefore does no harm.
 * @param max Maximum number of characters shown; a longer text is cut and ends with an ellipsis.
 */
export function printable(text: string, max = MAX_LINE): string {
  // Reads only the beginning of a long text.
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

/** Returns JSON with the same value whose characters a terminal shows literally. */
export const printableJson = (json: string): string =>
  json.replace(HIDDEN, (character) => {
    // The line breaks between the parts of the value.
    if (character === "\n") return character;
    const units = Array.from({ length: character.length }, (_, k) => character.charCodeAt(k));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });

/**
 * Returns where an error was thrown, one line per call, without the error's message (the message may have several
 * lines).
 */
export function stackLines({ message, stack = "" }: Error): string[] {
  const end = Math.max(0, stack.indexOf(message)) + message.length;
  return stack.slice(end).split("\n").slice(1);
}

/** Formats rows in columns, with widths taken from the widest cells. Cells are made printable. */
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
