import { writeFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";

/** Writes a file as `npm run format` would leave it. */
export async function writeFormatted(path: string, text: string): Promise<void> {
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}
