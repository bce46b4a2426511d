import { readFileSync } from "node:fs";

/** What begins a block of shell lines; other indented blocks are data or code. */
const PROGRAM = /^ {4}(npm|npx|refute|cp|echo|export|openssl|node) /;
/** What the reader fills in: three dots, or a word in capitals. */
const FORM = /\.\.\.|(?<![\w./$-])[A-Z]{2,}\b(?!=)/;

/**
 * The lines of a page that its readers type, in order. A block ends at its first line that the reader must fill in
 * (docs/developing.md, "The package").
 */
export function shellLines(page: string): string[] {
  const blocks = readFileSync(page, "utf8").split(/\n(?! {4,}\S)[^\n]*/);
  return blocks.flatMap((block) => {
    const lines = block.split("\n").filter((line) => line !== "");
    if (!PROGRAM.test(lines[0] ?? "")) return [];
    const form = lines.findIndex((line) => FORM.test(line.replace(/ #.*/, "")));
    return lines.slice(0, form < 0 ? undefined : form).map((line) => line.trim());
  });
}
