import { Command } from "commander";
import { withoutKeys, withoutPaths } from "../../redact.ts";
import { UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { findSetting, flagName, settingsOf, sourcesOf, unknownIn, type Found } from "../settings.ts";

/** A setting as it is shown: `value` is null if there is none. */
type Shown = { setting: string; value: string | null; source: string; problem: string | null };

/** Variables that hold secrets: only whether they are set is shown. */
const SECRETS = ["REFUTE_PRIVATE_KEY", "REFUTE_KEYSTORE_PASSWORD"];
const DEFAULT = "default";
const MISSING = "missing";

/** `refute config`: what a command would take from environment and config file. */
export function configCommand(output: Output): Command {
  const command = new Command("config")
    .description("show what a command would take from environment and config file, and where each setting comes from")
    .argument("<command>", "the command whose settings are shown")
    .option("--config <file>", "JSON file with settings (or REFUTE_CONFIG)")
    .action((name: string, _options: unknown, command: Command) => {
      const commands = command.parent!.commands;
      const settings = settingsOf(commands.find((one) => one.name() === name) ?? command);
      if (settings === undefined) {
        const known = commands.filter((one) => settingsOf(one) !== undefined).map((one) => one.name());
        throw new UsageError(`COMMAND ${withoutKeys(name)}: expected a command with settings (${known.join(", ")})`);
      }
      const sources = { ...sourcesOf(command, process.env), flags: {} };
      const unknown = unknownIn(sources, commands) ?? null;
      const shown = Object.entries(settings).map(([key, setting]) =>
        shownOf(key, findSetting(key, setting, sources), setting.absent?.text),
      );
      const secrets = SECRETS.map((variable) => ({ variable, set: (process.env[variable] ?? "") !== "" }));
      output.answer({ command: name, file: sources.path ?? null, settings: shown, unknown, secrets }, [
        ...shown.map(line),
        ...secrets.map(({ variable, set }) => `${variable}: ${set ? "set, not shown" : "not set"}`),
      ]);
      // What is missing may be given by a flag.
      const unfit = shown.flatMap(({ problem, source }) => (problem === null || source === MISSING ? [] : [problem]));
      const problems = unknown === null ? unfit : [...unfit, unknown];
      if (problems.length > 0) throw new UsageError(problems.join("; "));
    });
  return addExamples(command, "config worker", "config watcher --config /etc/refute/watcher.json");
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
