import { parseArgs } from "node:util";

/** A mistake in a call: `tools/main.ts` prints its message alone. */
export class UsageError extends Error {}

type Value = string | number | boolean | readonly string[] | undefined;

/** A program's option with a value of type T. */
export type Option<T extends Value> = {
  about: string;
  /** The value's placeholder in the help; absent for an option without a value. */
  value?: string;
  /** Its value where it is left out. */
  otherwise: T;
  /** @throws UsageError for a text without a valid value */
  read: (text: string) => T;
};

type Options = Readonly<Record<string, Option<Value>>>;
type Values<S> = { [K in keyof S]: S[K] extends Option<infer T> ? T : never };

/** An option without a value. */
export const flag = (about: string): Option<boolean> => ({ about, otherwise: false, read: () => true });

/** @param otherwise The value where the option is left out. */
export function text(about: string): Option<string | undefined>;
export function text(about: string, otherwise: string): Option<string>;
export function text(about: string, otherwise?: string): Option<string | undefined> {
  return { about, value: "TEXT", otherwise, read: (given) => given };
}

/** The path of a file or folder. */
export const file = (about: string): Option<string | undefined> => ({ ...text(about), value: "PATH" });

/** Words, separated by commas. */
export function list(about: string): Option<readonly string[] | undefined>;
export function list(about: string, otherwise: readonly string[]): Option<readonly string[]>;
export function list(about: string, otherwise?: readonly string[]): Option<readonly string[] | undefined> {
  return { about, value: "A,B", otherwise, read: (given) => given.split(",") };
}

/** A whole number that is not negative. */
export function whole(about: string): Option<number | undefined>;
export function whole(about: string, otherwise: number): Option<number>;
export function whole(about: string, otherwise?: number): Option<number | undefined> {
  return { about, value: "N", otherwise, read: (given) => numberOf(given, Number.isSafeInteger, "a whole number") };
}

/** A number that is not negative. */
export const decimal = (about: string, otherwise: number): Option<number> => ({
  ...{ about, value: "X", otherwise },
  read: (given) => numberOf(given, Number.isFinite, "a number"),
});

function numberOf(given: string, is: (value: number) => boolean, kind: string): number {
  const value = Number(given);
  if (given.trim() === "" || !is(value) || value < 0) throw new UsageError(`${given}: expected ${kind}`);
  return value;
}

/** The called program's name, for the help. */
let called = { call: "", about: "" };
export const beginCall = (call: string, about: string): void => void (called = { call, about });

/**
 * Reads the options of a call; with `--help`, prints them and ends the process.
 * @param words The program's arguments besides options, for the help; nothing by default.
 * @param given The words of the call.
 * @throws UsageError for an option or a value unknown to the program
 */
export function readOptions<S extends Options>(
  options: S,
  words?: string,
  given = process.argv.slice(2),
): Values<S> & { words: readonly string[] } {
  if (given.includes("--help") || given.includes("-h")) {
    console.log(helpOf(options, words));
    process.exit(0);
  }
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [name, { type: value === undefined ? "boolean" : "string" }]),
  ) as Record<string, { type: "string" | "boolean" }>;
  const { values, positionals } = parsed(given, config, words !== undefined);
  const read = Object.entries(options).map(([name, option]) => {
    const text = values[name];
    if (text === undefined) return [name, option.otherwise];
    try {
      return [name, option.read(String(text))];
    } catch (error) {
      throw error instanceof UsageError ? new UsageError(`--${name} ${error.message}`) : error;
    }
  });
  return { ...(Object.fromEntries(read) as Values<S>), words: positionals };
}

function parsed(args: string[], options: Record<string, { type: "string" | "boolean" }>, allowPositionals: boolean) {
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    const [message] = (error as Error).message.split(/\. |\n/);
    throw new UsageError(`${message}; --help lists the options`);
  }
}

/** Returns a program's help: the call, the purpose, and a line for each option. */
export function helpOf(options: Options, words = ""): string {
  const rows = Object.entries(options).map(([name, { about, value, otherwise }]) => {
    const usual = String(otherwise ?? "");
    if (value === undefined) return [`--${name}`, about] as const;
    return [`--${name} ${value}`, usual === "" ? about : `${about} (${usual})`] as const;
  });
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const usage = [called.call, ...(rows.length > 0 ? ["[OPTIONS]"] : []), ...(words === "" ? [] : [words])].join(" ");
  return [usage, `  ${called.about}`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)].join("\n");
}

/**
 * Returns the named entries.
 * @throws UsageError for an unknown name
 */
export function chosen<T>(names: readonly string[], all: Readonly<Record<string, T>>, kind: string): [string, T][] {
  const unknown = names.filter((name) => !Object.hasOwn(all, name));
  if (unknown.length > 0)
    throw new UsageError(`no ${kind} ${unknown.join(", ")}; there are ${Object.keys(all).join(", ")}`);
  return names.map((name) => [name, all[name]!]);
}
