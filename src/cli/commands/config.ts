import { Command } from "commander";
import { withoutKeys, withoutPaths } from "../../base/redact.ts";
import { UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { findSetting, flagName, settingsOf, sourcesOf, unknownIn, type Found, type Settings } from "../settings.ts";
import { commandAt, programOf, withParts, wordsOf } from "../words/walk.ts";
import { OLD_WORDS, oldWordNote } from "../words/oldWordTable.ts";
import { own } from "../words/own.ts";

/** A setting as it is shown: `value` is null if there is none. */
type Shown = { setting: string; value: string | null; source: string; problem: string | null };

/** Variables that hold secrets: only whether they are set is shown. */
const SECRETS = [
  "REFUTE_PRIVATE_KEY",
  "REFUTE_KEYSTORE_PASSWORD",
  "REFUTE_QUEUE_PASSWORD",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
];
const DEFAULT = "default";
const MISSING = "missing";

/** `refute config`: what a command would take from its flags, the environment, the config file and defaults. */
export function configCommand(output: Output): Command {
  const command = new Command("config")
    .description(
      "show what a command would take, and whether from a flag, the environment, the config file or a default",
    )
    .argument("<command...>", "the command whose settings are shown, and flags that it would be given")
    .option("--config <file>", "JSON file with settings (or REFUTE_CONFIG)")
    .allowUnknownOption()
    .action((given: readonly string[], _options: unknown, command: Command) => {
      const program = programOf(command);
      const { name, shownCommand, settings, flags } = withSettings(program, given, output);
      const sources = { ...sourcesOf(command, process.env), flags: flagsOf(shownCommand, flags) };
      const unknown = unknownIn(sources, withParts(program)) ?? null;
      const shown = Object.entries(settings).map(([key, setting]) =>
        shownOf(key, findSetting(key, setting, sources), setting.absent?.text),
      );
      const secrets = SECRETS.map((variable) => ({ variable, set: (process.env[variable] ?? "") !== "" }));
      output.answer({ command: name, file: sources.path ?? null, settings: shown, unknown, secrets }, [
        ...shown.map(line),
        ...secrets.map(({ variable, set }) => `${variable}: ${set ? "set, not shown" : "not set"}`),
      ]);
      // A flag may give a missing setting.
      const unfit = shown.flatMap(({ problem, source }) => (problem === null || source === MISSING ? [] : [problem]));
      const problems = unknown === null ? unfit : [...unfit, unknown];
      if (problems.length > 0) throw new UsageError(problems.join("; "));
    });
  return addExamples(
    command,
    "config worker",
    "config watcher --config /etc/refute/watcher.json",
    "config tickets serve --face 0.01",
  );
}

type Asked = { name: string; shownCommand: Command; settings: Settings; flags: readonly string[] };

/**
 * Returns the command at the start of the arguments, by the command's words or old word. @throws UsageError if the
 * command has no settings
 */
function withSettings(program: Command, given: readonly string[], output: Output): Asked {
  const [first = ""] = given;
  const oldWord = own(OLD_WORDS, first);
  const names = [given.slice(0, 2), [first], ...(oldWord === undefined ? [] : [oldWord.split(" ")])];
  for (const [k, words] of names.entries()) {
    const shownCommand = commandAt(program, words);
    const settings = shownCommand && settingsOf(shownCommand);
    if (settings === undefined) continue;
    if (k === 2) output.note(oldWordNote(first, oldWord!));
    const count = k === 0 ? words.length : 1;
    return { name: given.slice(0, count).join(" "), shownCommand: shownCommand!, settings, flags: given.slice(count) };
  }
  const known = withParts(program).filter((one) => settingsOf(one) !== undefined);
  const all = known.map((one) => wordsOf(one).join(" ")).join(", ");
  throw new UsageError(`COMMAND ${withoutKeys(first)}: expected a command with settings (${all})`);
}

/** The values that flags give. @throws UsageError for what the command does not take */
function flagsOf(command: Command, flags: readonly string[]): Record<string, unknown> {
  const { operands, unknown } = command.parseOptions([...flags]);
  const strange = [...operands, ...unknown][0];
  if (strange !== undefined)
    throw new UsageError(
      `${withoutKeys(strange)}: refute ${wordsOf(command).join(" ")} has no such flag (see its --help)`,
    );
  return command.opts();
}

function shownOf(key: string, found: Found, fallback = ""): Shown {
  const setting = flagName(key).slice(2);
  const { source } = found;
  if ("problem" in found)
    return { setting, value: null, source: source ?? MISSING, problem: withoutPaths(withoutKeys(found.problem)) };
  const text = found.text === undefined ? fallback : withoutKeys(withoutPaths(found.text));
  return { setting, value: text === "" ? null : text, source: source ?? DEFAULT, problem: null };
}

const line = ({ setting, value, source, problem }: Shown): string =>
  problem ?? `${setting}: ${value ?? "not set"} (${source})`;
