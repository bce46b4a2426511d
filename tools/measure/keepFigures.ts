import { writeFileSync } from "node:fs";

/** Writes figures to a file as JSON, if there is a file to write to. */
export function keepFigures(file: string | undefined, figures: unknown): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}
