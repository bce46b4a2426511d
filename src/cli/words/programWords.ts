import { realpathSync } from "node:fs";
import { delimiter, join, sep } from "node:path";

/**
 * How a reader starts this program in the same folder. `refute` alone is said only where a shell finds this very
 * program: `npx refute` could fetch another package of that name, and `npx refute-ml` cannot.
 * @param script The file that Node was started with.
 */
export function programWords(env: NodeJS.ProcessEnv = process.env, script = process.argv[1] ?? ""): string {
  if (env.npm_lifecycle_event === "refute") return "npm run refute --";
  const main = realPath(script);
  if (main?.includes(["", "node_modules", "refute-ml", ""].join(sep)) !== true) return "refute";
  // What npm starts has folders on its path that the reader's shell does not have.
  const folders = env.npm_command === undefined ? (env.PATH ?? "").split(delimiter) : [];
  return folders.some((folder) => realPath(join(folder, "refute")) === main) ? "refute" : "npx refute-ml";
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
