/**
 * `npm run measure|verify|write -- NAME [OPTIONS]`: runs a program of tools/programs.ts. Without a name it lists the
 * programs. `npm run release` has one program.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { RefuteError } from "../src/base/errors.ts";
import { choose, linesOf } from "./choose.ts";
import { beginCall, UsageError } from "./options.ts";
import { PROGRAMS, type Program, type Script } from "./programs.ts";

const MISUSED = 2;
const [script, ...words] = process.argv.slice(2) as [Script, ...string[]];
const call = `npm run ${script} --`;

const choice = choose(PROGRAMS[script], words);
if (choice.kind === "unknown") end(`${call} ${choice.name}: no such program; did you mean ${choice.nearest}?`, MISUSED);
if (choice.kind === "list") console.log([`${call} NAME [OPTIONS]`, "", ...linesOf(choice.programs)].join("\n"));
else await run(choice.program, choice.options);

async function run(
  { name, about, main, options: own = [], ...needs }: Program,
  given: readonly string[],
): Promise<void> {
  const { nodeFlags = [], needsBuild = false } = needs;
  if (!nodeFlags.every((flag) => process.execArgv.includes(flag)))
    process.exit(spawned(process.execPath, [...nodeFlags, import.meta.filename, script, ...words]));
  const asksForHelp = given.includes("--help") || given.includes("-h");
  if (needsBuild && !asksForHelp) {
    const status = spawned("hardhat", ["build", "--quiet", "--no-tests"]);
    if (status !== 0) process.exit(status);
  }
  const path = join(import.meta.dirname, main);
  process.argv = [process.argv[0]!, path, ...own, ...given];
  const ownCall = `${call} ${name}`.trimEnd();
  beginCall(ownCall, about);
  try {
    await import(path);
  } catch (error) {
    if (error instanceof UsageError) end(`${ownCall}: ${error.message}`, MISUSED);
    if (error instanceof RefuteError) end(`${ownCall}: ${error.message}`, 1);
    throw error;
  }
}

function spawned(command: string, args: readonly string[]): number {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error !== undefined) end(error.message, 1);
  return status ?? 1;
}

function end(message: string, status: number): never {
  console.error(message);
  process.exit(status);
}
