import { withoutKeys } from "../../base/redact.ts";
import { UsageError } from "../errors.ts";
import { closest } from "./closest.ts";
import { allCommands, topWord, topWords } from "./words.ts";
import { OLD_WORDS } from "./oldWordTable.ts";

/** The error of words that name no command. It suggests commands with a similar name. */
export function unknownCommand(words: readonly string[]): UsageError {
  const noun = words.slice(0, -1);
  const similar = similarCommands(words.at(-1)!, noun[0]).map((command) => `refute ${command}`);
  const hint = similar.length === 0 ? "" : ` (Did you mean ${similar.join(" or ")}?)`;
  // The message repeats the unknown text, which may be a key in the wrong place.
  const typed = withoutKeys(words.join(" "));
  return new UsageError(
    `unknown command '${typed}'${hint}; ${["refute", ...noun].join(" ")} --help shows all commands`,
  );
}

/**
 * Returns the commands whose last word or old word is near a word: the noun's commands if any is near, else any other
 * near command; if nothing is near and the noun has a command, the noun.
 */
function similarCommands(word: string, noun: string | undefined): string[] {
  const named: [name: string, command: string][] = [
    ...topWords().map((top): [string, string] => [top, top]),
    ...allCommands().map((words): [string, string] => [words.at(-1)!, words.join(" ")]),
    ...Object.entries(OLD_WORDS),
  ];
  const ofNoun = named.filter(([, command]) => command.startsWith(`${noun} `));
  const isCommand = noun !== undefined && topWord(noun)?.load !== undefined;
  return commandsNear(word, ofNoun) ?? commandsNear(word, named) ?? (isCommand ? [noun] : []);
}

function commandsNear(word: string, named: readonly [name: string, command: string][]): string[] | undefined {
  const names = closest(
    word,
    named.map(([name]) => name),
  );
  const commands = named.filter(([name]) => names.includes(name)).map(([, command]) => command);
  if (commands.length === 0) return undefined;
  // A command at the top is meant rather than a command of some noun.
  const atTop = commands.filter((command) => !command.includes(" "));
  return [...new Set(atTop.length > 0 ? atTop : commands)];
}
