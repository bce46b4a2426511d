import { spawnSync } from "node:child_process";
import { indented } from "./markdown.ts";
import { ROOT } from "./root.ts";

/** What `refute --help --json` says of a command. */
type CommandHelp = { command: string; group: string; help: string };

/** The help of every command, asked of the command line itself. @throws Error with what it says if it fails */
export function commandsPage(): string {
  const flags = ["src/cli/main.ts", "--help", "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`the command line does not tell its help: ${stderr}`);
  const { commands } = JSON.parse(stdout) as { commands: CommandHelp[] };
  const groups = [...new Set(commands.map(({ group }) => group))];
  const sections = groups.map((group) => {
    const own = commands.filter((each) => each.group === group);
    return [
      `## ${group}`,
      ...own.map(({ command, help }) => `### refute ${command}\n\n${indented(tabbed(help))}`),
    ].join("\n\n");
  });
  const about =
    "The help of every command, as `refute COMMAND --help` prints it. [docs/cli.md](docs/cli.md) explains more.";
  return ["# Commands", about, ...sections].join("\n\n");
}

/** Writes the blanks before a line as a browser shows the same: half of this page would be blanks. */
const tabbed = (help: string): string => help.replace(/^(?: {8})+/gm, (blanks) => "\t".repeat(blanks.length / 8));
