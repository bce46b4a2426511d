import { pino } from "pino";
import type { Logger } from "pino";

export type { Logger };

/** JSON lines when the output is no terminal, one readable line an event when it is. */
export function createLogger(level: string, out: NodeJS.WriteStream = process.stderr): Logger {
  const stream = out.isTTY ? { write: (line: string) => void out.write(readable(line)) } : out;
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

function readable(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as { time: string; level: number; msg?: string };
  const fields = Object.entries(rest).map(([key, value]) => `${key}=${format(value)}`);
  return `${time.slice(11, 19)} ${LEVELS[level] ?? "?"} ${[msg ?? "", ...fields].join("  ")}\n`;
}

const LEVELS: Record<number, string> = { 10: "trace", 20: "debug", 30: "info ", 40: "WARN ", 50: "ERROR", 60: "FATAL" };
const format = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
