import { writeFileSync } from "node:fs";

/** Writes figures to a JSON file, if a file is given. */
export function keepFigures(file: string | undefined, figures: unknown): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
}
