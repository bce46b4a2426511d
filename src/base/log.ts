import { pino } from "pino";
import { printable } from "./text.ts";

type Log = { (fields: object, message?: string): void; (message: string): void };

/** The logger methods in use: pino's, or any other logger's that takes fields and words. */
export type Logger = Record<"debug" | "info" | "warn" | "error", Log>;

/** The longest text in a line, characters. */
const MAX_TEXT = 4_000;

type Out = { isTTY?: boolean; write: (line: string) => unknown };

/**
 * Writes JSON lines if the output is no terminal, and one readable line per event if the output is a terminal. Both
 * make texts printable: names and messages come from models, nodes and contracts, and a log's reader may decode the
 * JSON first.
 */
export function createLogger(level: string, out: Out = process.stderr): Logger {
  const stream = { write: (line: string) => void out.write(shown(line, out.isTTY === true)) };
  const formatters = { level: (name: string) => ({ level: name }) };
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, formatters }, stream);
}

/** Logs nothing. */
export const SILENT: Logger = pino({ level: "silent" });

function shown(line: string, isTerminal: boolean): string {
  const entry = JSON.parse(line, (_key, value: unknown) =>
    typeof value === "string" ? printable(value, MAX_TEXT) : value,
  ) as Entry;
  return isTerminal ? readable(entry) : `${JSON.stringify(entry)}\n`;
}

type Entry = { time: string; level: string; msg?: string };

function readable({ time, level, msg, ...rest }: Entry): string {
  const fields = Object.entries(rest).map(([key, value]) => `${key}=${format(value)}`);
  return `${time.slice(11, 19)} ${LEVELS[level] ?? level} ${[msg ?? "", ...fields].join("  ")}\n`;
}

const LEVELS: Record<string, string> = { info: "info ", warn: "WARN ", error: "ERROR", fatal: "FATAL" };
const format = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
