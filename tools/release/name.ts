/** Says whether the registry's package with our name is somebody else's. */
import { spawnSync } from "node:child_process";

/** What `npm view NAME bin --json` gave. */
type View = { status: number | null; stdout: string };

/** Asks the registry. */
export const viewOf = (name: string): View =>
  spawnSync("npm", ["view", name, "bin", "--json"], { encoding: "utf8", shell: process.platform === "win32" });

/** A name that may be published, one that may not, or one that nobody could look up, with the reason in words. */
type NameVerdict = { kind: "free" | "ours" | "anothers" | "unknown"; what: string };

/**
 * Judges a name. Our package is the one with our command: a package without the command is somebody else's.
 * @param command In `bin` of package.json.
 */
export function judgeName(name: string, command: string, { status, stdout }: View): NameVerdict {
  const answer = parsed(stdout);
  if (status === 0) {
    const isOurs = typeof answer === "object" && answer !== null && command in answer;
    if (isOurs) return { kind: "ours", what: `the registry's package ${name} has the command ${command}` };
    const what = `the registry's package ${name} is somebody else's: it has no command ${command}`;
    return { kind: "anothers", what: `${what}; choose another "name" in package.json` };
  }
  const { code = "no answer" } = (answer as { error?: { code?: string } } | undefined)?.error ?? {};
  if (code === "E404") return { kind: "free", what: `the registry has no package ${name}` };
  return { kind: "unknown", what: `the name ${name} was not looked up: the registry cannot be asked (${code})` };
}

/** @returns undefined where the text is no JSON: `npm view` prints nothing for a field that a package lacks */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
