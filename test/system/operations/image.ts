import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { runCommand } from "../../../testkit/processes/runCommand.ts";

/** Where the steps of an image run: `root` stands for its file system, `context` is a tar archive of what is copied. */
type Place = { root: string; context: string };

/** @throws Error with all that a linter finds wrong with a Dockerfile */
export function lint(dockerfile: string): void {
  const problems = validate(dockerfile).map(({ message, range }) => `line ${range.start.line + 1}: ${textOf(message)}`);
  if (problems.length > 0) throw new Error(`Dockerfile: ${problems.join("; ")}`);
}

const textOf = (message: string | { value: string }): string => (typeof message === "string" ? message : message.value);

/** The folders that the steps of the image name. */
const FOLDERS = /(?<![\w.])\/(?:src|package|opt\/refute|home\/node\/cache)\b/g;

/**
 * Runs the steps of a Dockerfile without Docker. All stages share one file system, below `root`. An instruction takes
 * one line.
 * @returns The command of its ENTRYPOINT.
 */
export function imageSteps(dockerfile: string, { root, context }: Place): string[] {
  const placed = (text: string): string => text.replace(FOLDERS, (path) => join(root, path));
  let at = root;
  let entry: string[] = [];
  const sh = (script: string): void => void runCommand("sh", ["-ec", script], at);
  for (const line of dockerfile.split("\n").filter((line) => line !== "" && !line.startsWith("#"))) {
    const [, instruction = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === "WORKDIR") mkdirSync((at = placed(rest)), { recursive: true });
    else if (instruction === "RUN") sh(placed(rest));
    else if (instruction === "COPY") sh(copying(placed(rest), context));
    else if (instruction === "ENTRYPOINT") entry = JSON.parse(placed(rest)) as string[];
    else if (!["FROM", "USER", "ENV", "VOLUME", "CMD"].includes(instruction))
      throw new Error(`Dockerfile: nothing is known of ${instruction}`);
  }
  return entry;
}

/** The script of a COPY. What lies at the same place in both stages is there already. */
function copying(rest: string, context: string): string {
  const [from, to] = rest.replace(/^--from=\S+ /, "").split(" ");
  if (rest === ". .") return `tar -xf ${context}`;
  return from === to ? "true" : `cp -r ${from} ${to}`;
}
