import type { Command } from "commander";

/** The shells that completion is written for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

type Word = { word: string; help: string };
type Words = { commands: Word[]; options: Map<string, Word[]> };

/** A script that completes the names of commands and options, and files after them. */
export function completionScript(shell: Shell, program: Command): string[] {
  const words = wordsOf(program);
  return { bash, zsh, fish }[shell](words);
}

function wordsOf({ commands }: Command): Words {
  const optionWords = (command: Command): Word[] =>
    command
      .createHelp()
      .visibleOptions(command)
      .map(({ long, description }) => ({ word: long!, help: description }));
  return {
    commands: commands.map((command) => ({ word: command.name(), help: command.description() })),
    options: new Map(commands.map((command) => [command.name(), optionWords(command)])),
  };
}

const names = (words: readonly Word[]): string => words.map(({ word }) => word).join(" ");

const bash = ({ commands, options }: Words): string[] => [
  "_refute() {",
  '  local word="${COMP_WORDS[COMP_CWORD]}" words',
  "  if ((COMP_CWORD == 1)); then",
  `    words="${names(commands)}"`,
  '  elif [[ "$word" == -* ]]; then',
  '    case "${COMP_WORDS[1]}" in',
  ...[...options].map(([command, words]) => `      ${command}) words="${names(words)}" ;;`),
  "    esac",
  "  fi",
  '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
  "}",
  "complete -o default -F _refute refute",
];

const zsh = (words: Words): string[] => [
  "#compdef refute",
  "autoload -U +X bashcompinit && bashcompinit",
  ...bash(words),
];

/** A word in single quotes, as fish takes it. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

const fish = ({ commands, options }: Words): string[] => [
  ...commands.map(({ word, help }) => `complete -c refute -n __fish_use_subcommand -f -a ${word} -d ${quoted(help)}`),
  ...[...options].flatMap(([command, words]) =>
    words.map(({ word, help }) => {
      const when = quoted(`__fish_seen_subcommand_from ${command}`);
      return `complete -c refute -n ${when} -l ${word.slice(2)} -d ${quoted(help)}`;
    }),
  ),
];
