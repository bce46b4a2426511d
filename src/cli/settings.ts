import type { Command } from "commander";
import { z } from "zod";
import { FileError, readRegularFile } from "../regularFile.ts";
import { UsageError } from "./errors.ts";

/** `rpcUrl` is set by --rpc-url, REFUTE_RPC_URL or "rpcUrl" in the config file. */
export const flagName = (key: string): string => `--${kebab(key)}`;
export const envName = (key: string): string => `REFUTE_${kebab(key).replaceAll("-", "_").toUpperCase()}`;

const kebab = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * A command's settings: flag over environment over config file (--config or REFUTE_CONFIG) over the schema's default.
 * @throws UsageError naming every setting that is missing, unknown or unfit, and how it is set.
 */
export function readSettings<S extends z.ZodRawShape>(
  command: Command,
  shape: S,
  env: NodeJS.ProcessEnv = process.env,
): z.output<z.ZodObject<S>> {
  const { config, ...given } = command.optsWithGlobals<Record<string, unknown> & { config?: string }>();
  const path = config ?? env.REFUTE_CONFIG;
  const merged: Record<string, unknown> = path === undefined ? {} : readConfig(path);
  for (const key of Object.keys(shape)) {
    const fromEnv = env[envName(key)];
    if (fromEnv !== undefined) merged[key] = fromEnv;
    if (given[key] !== undefined) merged[key] = given[key];
  }
  const result = z.object(shape).strict().safeParse(merged);
  if (result.success) return result.data;
  throw new UsageError(result.error.issues.map(explain).join("; "));
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

/** Reads a JSON file. @throws UsageError that names the file and what it is for. */
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
    // The error of JSON.parse quotes the text, which may hold a key: neither it nor its message may get into an output.
    const where = /position \d+( \(line \d+ column \d+\))?/.exec((cause as Error).message)?.[0];
    throw new UsageError(`the ${purpose} ${path} is not JSON${where === undefined ? "" : `, at ${where}`}`);
  }
}

function explain(issue: z.ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `unknown setting in the config file: ${issue.keys.join(", ")}`;
  const key = String(issue.path[0]);
  const how = `(${flagName(key)}, ${envName(key)} or "${key}" in the config file)`;
  const missing = issue.code === "invalid_type" && issue.received === "undefined";
  return missing ? `${key} is missing ${how}` : `${issue.path.join(".")}: ${issue.message} ${how}`;
}
