import type { Command } from "commander";
import { withParts, wordsOf } from "./walk.ts";

/** The shells that completion is written for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

type Option = { flag: string; help: string };
/** A command or a noun: the words after `refute`, the possible next words, and the flags. */
type Entry = { words: string[]; help: string; parts: string[]; options: Option[] };

/** Returns a script that completes command names and flag names, and files after them. */
export function completionScript(shell: Shell, program: Command): string[] {
  const entries = program.commands.flatMap(withParts).map(entryOf);
  return { bash, zsh, fish }[shell](entries);
}

const entryOf = (command: Command): Entry => ({
  words: wordsOf(command),
  help: command.summary(),
  parts: command.commands.map((part) => part.name()),
  options: command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, description }) => ({ flag: long!, help: description })),
});

const isTop = ({ words }: Entry): boolean => words.length === 1;
const namesOf = (entries: readonly Entry[]): string => entries.map(({ words }) => words.at(-1)).join(" ");
const flagsOf = ({ options }: Entry): string => options.map(({ flag }) => flag).join(" ");

const bash = (entries: readonly Entry[]): string[] => {
  const tops = entries.filter(isTop);
  const help = tops.find(({ words }) => words[0] === "help")!;
  return [
    "_refute() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}" at=1 found=""',
    // The words after `help` and `config` are another command's words.
    '  case "${COMP_WORDS[1]}" in help | config) ((COMP_CWORD > 1)) && at=2 ;; esac',
    '  local first="${COMP_WORDS[at]}" second="${COMP_WORDS[at + 1]}"',
    "  if ((COMP_CWORD == at)); then",
    `    found="${namesOf(tops)}"`,
    `    [[ "\${COMP_WORDS[1]}" == help ]] && found="$found ${help.parts.join(" ")}"`,
    '  elif [[ "$word" == -* ]]; then',
    '    case "$first $second" in',
    ...entries
      .filter((entry) => !isTop(entry))
      .map((entry) => `      "${entry.words.join(" ")}") found="${flagsOf(entry)}" ;;`),
    ...tops.map((entry) => `      "${entry.words[0]} "*) found="${flagsOf(entry)}" ;;`),
    "    esac",
    "  elif ((COMP_CWORD == at + 1)); then",
    '    case "$first" in',
    ...tops
      .filter(({ parts }) => parts.length > 0)
      .map(({ words, parts }) => `      ${words[0]}) found="${parts.join(" ")}" ;;`),
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$found" -- "$word"))',
    "}",
    "complete -o default -F _refute refute",
  ];
};

const zsh = (entries: readonly Entry[]): string[] => [
  "#compdef refute",
  "autoload -U +X bashcompinit && bashcompinit",
  ...bash(entries),
];

/** Quotes a word in single quotes, in fish's syntax. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

const fish = (entries: readonly Entry[]): string[] => [
  // Two tests: if the words after `refute` equal the given words, and if they begin with the given words.
  "function __refute_are",
  '    set -l words (commandline -opc)[2..]; test "$words" = "$argv"',
  "end",
  "function __refute_begin",
  '    set -l words (commandline -opc)[2..]; test "$words[1..$(count $argv)]" = "$argv"',
  "end",
  ...entries.flatMap(({ words, help, parts, options }) => {
    const before = words.slice(0, -1);
    const own = [
      `__refute_begin ${words.join(" ")}`,
      ...parts.map((part) => `not __refute_begin ${words.join(" ")} ${part}`),
    ];
    return [
      `complete -c refute -n ${quoted(["__refute_are", ...before].join(" "))} -f -a ${words.at(-1)} -d ${quoted(help)}`,
      ...options.map(
        ({ flag, help }) =>
          `complete -c refute -n ${quoted(own.join("; and "))} -l ${flag.slice(2)} -d ${quoted(help)}`,
      ),
    ];
  }),
];
