import { dirname, resolve } from "node:path";
import { Option, type Command } from "commander";
import { FileError, readRegularFile } from "../base/regularFile.ts";
import { UsageError } from "./errors.ts";
import { yesOrNo, type Parse, type PathParse } from "./parse.ts";
import { GROUPS } from "./words/helpGroups.ts";
import { programOf, withParts } from "./words/walk.ts";

/** `rpcUrl` is set by --rpc-url, REFUTE_RPC_URL or "rpcUrl" in the config file. */
export const flagName = (key: string): string => `--${kebab(key)}`;
const envName = (key: string): string => `REFUTE_${kebab(key).replaceAll("-", "_").toUpperCase()}`;

const inFile = (key: string): string => `"${key}" of the config file`;

const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Something that a flag, an environment variable or the config file sets. */
type Setting<T> = {
  /** The placeholder for the value in the help; undefined for a switch. */
  value: string | undefined;
  help: string;
  parse: Parse<NonNullable<T>>;
  /** The value if nothing is given; without `absent` the setting must be given. */
  absent?: { value: T; text: string };
  /** The group of the flag in the help. */
  group?: string;
};

export type Settings = Record<string, Setting<unknown>>;
export type SettingValues<S extends Settings> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** A setting that must be given. @param value The placeholder in the help, e.g. `seconds`. */
export const required = <T>(value: string, help: string, parse: Parse<NonNullable<T>>): Setting<T> => ({
  value,
  help,
  parse,
});

/**
 * A setting that may be left out. @param text The effect of leaving the setting out, for the help, unless `help`
 * already gives the effect.
 */
export const optional = <T>(
  value: string,
  help: string,
  parse: Parse<NonNullable<T>>,
  text = "",
): Setting<T | undefined> => ({ value, help, parse, absent: { value: undefined, text } });

/** A setting with a default. @param text The default for the help. */
export const defaulted = <T>(
  value: string,
  help: string,
  parse: Parse<NonNullable<T>>,
  fallback: T,
  text = String(fallback),
): Setting<T> => ({ value, help, parse, absent: { value: fallback, text } });

/** A setting that is on or off. */
export const toggle = (help: string): Setting<boolean> => ({
  value: undefined,
  help,
  parse: yesOrNo,
  absent: { value: false, text: "" },
});

/** Puts settings into a group of the help. */
export const inGroup = <S extends Settings>(group: keyof typeof GROUPS, settings: S): S =>
  Object.fromEntries(
    Object.entries(settings).map(([key, setting]) => [key, { ...setting, group: GROUPS[group] }]),
  ) as unknown as S;

/** The settings of commands, for who asks what a command would take (`refute config`). */
const settingsByCommand = new WeakMap<Command, Settings>();

/** The settings of a command; undefined if it has none. */
export const settingsOf = (command: Command): Settings | undefined => settingsByCommand.get(command);

/** Adds the flags of settings, and --config, to a command. The help shows their defaults. */
export function addSettings(command: Command, settings: Settings): Command {
  settingsByCommand.set(command, settings);
  for (const [key, { value, help, absent, group = "" }] of Object.entries(settings)) {
    const more = [envName(key), ...(absent !== undefined && absent.text !== "" ? [`default: ${absent.text}`] : [])];
    const flags = value === undefined ? flagName(key) : `${flagName(key)} <${value}>`;
    command.optionsGroup(group).addOption(new Option(flags, `${help} (or ${more.join("; ")})`));
  }
  return command.optionsGroup("").option("--config <file>", "JSON file with any of these settings (or REFUTE_CONFIG)");
}

/** Where settings come from; the first that gives one wins: flags, environment, config file. */
export type Sources = {
  flags: Record<string, unknown>;
  env: NodeJS.ProcessEnv;
  /** The path of the config file, undefined without a config file. */
  path: string | undefined;
  file: Record<string, unknown>;
};

/** A setting as found: the source, the text, and the value or the problem. */
export type Found = { source?: string; text?: string } & ({ value: unknown } | { problem: string });

/** Where the settings of a command come from. @throws UsageError if the config file cannot be read */
export function sourcesOf(command: Command, env: NodeJS.ProcessEnv): Sources {
  const { config, ...flags } = command.optsWithGlobals<Record<string, unknown> & { config?: string }>();
  const path = config ?? env.REFUTE_CONFIG;
  return { flags, env, path, file: path === undefined ? {} : readConfig(path) };
}

/** Finds a setting. */
export function findSetting(key: string, setting: Setting<unknown>, { flags, env, file, path }: Sources): Found {
  const { parse, absent } = setting;
  const [given, source] = [
    [flags[key], flagName(key)] as const,
    [env[envName(key)], envName(key)] as const,
    [file[key], inFile(key)] as const,
  ].find(([value]) => value !== undefined) ?? [undefined, ""];
  if (given === undefined) {
    if (absent !== undefined) return { value: absent.value };
    return { problem: `${key} is missing (${flagName(key)}, ${envName(key)} or "${key}" in the config file)` };
  }
  try {
    const written = textOf(given, source);
    const text = source === inFile(key) && path !== undefined ? besideFile(path, setting, written) : written;
    return { source, text, value: parse(text, source) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { source, problem: error.message };
  }
}

/** Whether the config file of a command has settings that the command does not know: they may be those of others. */
export const hasForeignSettings = (command: Command, env: NodeJS.ProcessEnv = process.env): boolean =>
  settingsOf(command) !== undefined && unknownIn(sourcesOf(command, env), [command]) !== undefined;

/** Returns the config file's settings unknown to all commands. Several commands may share a file. */
export function unknownIn({ path, file }: Sources, commands: readonly Command[]): string | undefined {
  const known = commands.flatMap(({ options }) => options.map(optionKey));
  const unknown = Object.keys(file).filter((key) => !known.includes(key));
  return unknown.length === 0 ? undefined : `unknown setting in the config file ${path}: ${unknown.join(", ")}`;
}

/**
 * Reads a command's settings: flag over environment over config file (--config or REFUTE_CONFIG) over default.
 * @throws UsageError that names every missing, unknown or unfit setting, with the way to set the setting
 */
export function readSettings<S extends Settings>(
  command: Command,
  settings: S,
  env: NodeJS.ProcessEnv = process.env,
): SettingValues<S> {
  const sources = sourcesOf(command, env);
  const unknown = unknownIn(sources, withParts(programOf(command)));
  const problems = unknown === undefined ? [] : [unknown];
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(settings)) {
    const found = findSetting(key, setting, sources);
    if ("problem" in found) problems.push(found.problem);
    else values[key] = found.value;
  }
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  return values as SettingValues<S>;
}

/** Returns a config file's setting; paths are relative to the folder of the config file, and absolute in the answer. */
const besideFile = (path: string, { parse }: Setting<unknown>, text: string): string =>
  "place" in parse && text !== ""
    ? (parse as PathParse<unknown>).place(text, (part) => resolve(dirname(path), part))
    : text;

const optionKey = (option: Option): string => option.attributeName();

function textOf(value: unknown, name: string): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw new UsageError(`${name}: expected a text or a number`);
}

function readConfig(path: string): Record<string, unknown> {
  const json = readJson(path, "config file");
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new UsageError(`the config file ${path} must hold one JSON object`);
  }
  return { ...json };
}

/** The maximum bytes of a config file or a models file. */
const MAX_JSON_BYTES = 2 ** 24;

/** Reads a JSON file. @throws UsageError that names the file and the file's purpose. */
export function readJson(path: string, purpose: string): unknown {
  let text: string;
  try {
    text = new TextDecoder().decode(readRegularFile(path, MAX_JSON_BYTES));
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw new UsageError(`cannot read the ${purpose} ${path}: it ${cause.message}`, { cause });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    // JSON.parse's error quotes the text, which may hold a key: neither the error nor the error's message may get into
    // an output.
    const where = /position \d+( \(line \d+ column \d+\))?/.exec((cause as Error).message)?.[0];
    throw new UsageError(`the ${purpose} ${path} is not JSON${where === undefined ? "" : `, at ${where}`}`);
  }
}
