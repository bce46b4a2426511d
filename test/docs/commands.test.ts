import { expect } from "chai";
import { existsSync, globSync, readFileSync } from "node:fs";
import { refute } from "../cli/refute.ts";
import { choose } from "../../tools/choose.ts";
import { PROGRAMS, type Script } from "../../tools/programs.ts";
import { callOf, codeOf, PAGES } from "./documentedCalls.ts";

describe("commands on the pages", () => {
  const code = PAGES.flatMap((page) => codeOf(page).map((line) => ({ page, line })));
  const calls = code.flatMap(({ page, line }) => {
    const words = callOf(line);
    return words === undefined ? [] : [{ page, words }];
  });

  it("callsForHelp_doWhatThePageSays", async () => {
    const asking = calls.filter(({ words }) => words.at(-1) === "--help" && words[0] !== "COMMAND");
    expect(asking.length).to.be.greaterThan(5);
    for (const { page, words } of asking) {
      const { status, output } = await refute(words);
      expect([status, output.includes("Usage: refute")], `${page}: ${words.join(" ")}`).to.deep.equal([0, true]);
    }
  });

  it("callsOfTheCommandLine_nameCommandsAndFlagsThatItHas", async () => {
    const { stdout } = await refute(["--help", "--json"]);
    const { commands } = JSON.parse(stdout) as { commands: { command: string; help: string }[] };
    const helps = new Map(commands.map(({ command, help }) => [command, help]));
    expect(calls.length).to.be.greaterThan(200);
    const wrong = calls.flatMap(({ page, words }) => {
      // `refute help` is followed by the words of a command, or of its own.
      const [name, part = ""] = words[0] === "help" && words[1] !== "completion" ? words.slice(1) : words;
      if (name === undefined || name.startsWith("-") || /^[A-Z.]/.test(name)) return [];
      const both = helps.get(`${name} ${part.split("|")[0]}`);
      // A word after a noun is a command of the noun; a word after a command is its argument.
      const isNoun = helps.get(name)?.startsWith(`Usage: refute ${name} COMMAND ...`) === true;
      const help = both ?? (isNoun && /^[a-z]/.test(part) ? undefined : helps.get(name));
      if (help === undefined) return [`${page}: there is no command ${name} ${part}`];
      const flags = words.flatMap((word) => /^\[?(--[a-z][a-z0-9-]*)/.exec(word)?.[1] ?? []);
      const has = (flag: string): boolean => new RegExp(`${flag}(?![a-z0-9-])`).test(help);
      return flags.filter((flag) => !has(flag)).map((flag) => `${page}: ${name} has no ${flag}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it("flagsInTheSectionOfACommand_areFlagsOfCommandsThatItNames", async () => {
    const { stdout } = await refute(["--help", "--json"]);
    const { commands } = JSON.parse(stdout) as { commands: { command: string; help: string }[] };
    const helps = new Map(commands.map(({ command, help }) => [command, help]));
    const sections = readFileSync("docs/cli.md", "utf8").split(/^(?=##? )/m);
    const wrong = sections.flatMap((section) => {
      const [head] = section.split("\n");
      const helpsIn = (text: string): string[] =>
        (text.match(/(?<=\brefute )[a-z]+(?: [a-z]+(?:\|[a-z]+)*)?/g) ?? []).flatMap((words) => {
          const [name = "", parts = ""] = words.split(" ");
          return [name, ...parts.split("|").map((part) => `${name} ${part}`)].flatMap((one) => helps.get(one) ?? []);
        });
      // Sections about all commands, or about other machines, name flags of any.
      if (!/^## `refute /.test(head!)) return [];
      const unknown = (text: string, flags: RegExp, own: readonly string[]): string[] =>
        [...text.matchAll(flags)].flatMap(([, flag]) => {
          const isKnown = own.some((help) => new RegExp(`${flag}(?![a-z0-9-])`).test(help));
          return isKnown ? [] : [`${head}: ${flag}`];
        });
      // What a list begins with is a flag of the heading's commands.
      return [
        ...unknown(section, /`(--[a-z][a-z0-9-]*)/g, helpsIn(section)),
        ...unknown(section, /^- `(--[a-z][a-z0-9-]*)/gm, helpsIn(head!)),
      ];
    });
    expect(wrong).to.deep.equal([]);
  });

  it("installs_andImports_nameThisPackage", () => {
    const { name } = JSON.parse(readFileSync("package.json", "utf8")) as { name: string };
    const files = [
      ...["README.md", "SECURITY.md", "package.json", ...globSync("{docs,operations}/**/*.{md,yaml}")],
      ...globSync("{examples,src,web,test/system/package/projects}/**/*.{md,ts,tsx,sol,json,js,mjs}"),
      "operations/docker/Dockerfile",
    ].filter((file) => !file.includes("node_modules"));
    const wrong = files.flatMap((file) => {
      const text = readFileSync(file, "utf8");
      const installs = [...text.matchAll(/\bnpm (?:install|i|add|view) ([^\n`";#]*)/g)].flatMap(([, words]) =>
        words!.split(" ").filter((word) => /^(?:\S*\/)?refute(?![-\w]*\/)/.test(word)),
      );
      // npx fetches what is not installed.
      const fetched = [...text.matchAll(/\bnpx (?:-\S+ )*(refute[-\w]*) [a-z]/g)].map(([, one]) => one!);
      const packages = installs.map((word) => /refute[-a-z]*(?=[-@*]|$)/.exec(word)![0].replace(/-$/, ""));
      const imports = [...text.matchAll(/(?:from|import\() ?"(refute[-\w]*)\//g)].map(([, module]) => module!);
      const needs = [...text.matchAll(/"(refute[-\w]*)": "\d/g)].map(([, needed]) => needed!);
      return [...packages, ...fetched, ...imports, ...needs]
        .filter((one) => one !== name)
        .map((one) => `${file}: ${one}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it("scriptsAndTestFiles_areThere", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    const wrong = code.flatMap(({ page, line }) => {
      const [, script, words] = /^npm run (?:--silent )?([\w:-]+)(?: -- ([^#]+))?/.exec(line) ?? [];
      if (script !== undefined && page !== "examples/iris/README.md" && !Object.hasOwn(scripts, script))
        return [`${page}: npm run ${script}`];
      if (Object.hasOwn(PROGRAMS, script ?? "") && words !== undefined) {
        const programs = PROGRAMS[script as Script];
        const isThere = choose(programs, words.trim().split(" ")).kind !== "unknown";
        return isThere || /^[A-Z]/.test(words) ? [] : [`${page}: npm run ${script} -- ${words}`];
      }
      const file = /^(?:npx mocha|npm test --) ([^\s'*]+\.ts)/.exec(line)?.[1];
      return file !== undefined && !existsSync(file) ? [`${page}: ${file}`] : [];
    });
    expect(wrong).to.deep.equal([]);
  });
});
