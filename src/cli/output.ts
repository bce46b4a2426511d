import { withoutPaths } from "../base/redact.ts";
import { printable, printableJson, stackLines } from "../base/text.ts";
import { codeOf, isExpected } from "./exitStatus.ts";
import { countdown, StatusLine, stepProgress, type Progress } from "./progress.ts";

/*
 * All that commands print goes through here, line by line. What is between the breaks of a line may hold text from
 * outside (names in a model, a path, what a node or a contract says), so that all of it is made printable: such a text
 * can neither command the terminal nor begin a line of its own. A writer that takes a whole page could not tell its
 * breaks from forged ones, and an escape at each of the places that insert a text would be forgotten at one of them.
 */

/** The longest message of an error or a note, characters. */
const MAX_MESSAGE = 4_000;

/** SGR parameters. */
const COLOURS = { red: 31, green: 32, yellow: 33, bold: 1 } as const;
type Colour = keyof typeof COLOURS;

/** A line for people; one with a colour has it whole. */
export type Line = string | { text: string; colour: Colour };

/** How a command prints. */
type OutputMode = {
  /** JSON instead of lines: a document on stdout, an object per line on stderr. */
  json: boolean;
  /** Nothing on stderr but errors. */
  quiet: boolean;
  /** Whether colours may be used on a terminal. */
  colour: boolean;
};

/**
 * Returns the mode requested by arguments and environment. The mode is known before the arguments are parsed: errors
 * obey the mode too.
 */
export function outputMode(args: readonly string[], env: NodeJS.ProcessEnv): OutputMode {
  const end = args.indexOf("--");
  const flags = end < 0 ? args : args.slice(0, end);
  const { NO_COLOR: noColour = "" } = env;
  return {
    json: flags.includes("--json"),
    quiet: flags.includes("--quiet"),
    colour: noColour === "" && !flags.includes("--no-color"),
  };
}

/** A command's output: the answer on stdout; notes, progress and errors on stderr. */
export class Output {
  readonly mode: OutputMode;
  readonly #status = new StatusLine();

  /** Rewrites a message for the place where commands were typed. */
  readonly #hint: (text: string) => string;

  constructor(mode: OutputMode, hint = (text: string): string => text) {
    this.mode = mode;
    this.#hint = hint;
  }

  /**
   * Gives the answer of a command. To be called once.
   * @param value A plain value, for --json; bigints become decimal text.
   * @param lines The same for people.
   */
  answer(value: unknown, lines: string | readonly Line[]): void {
    this.#status.clear();
    if (this.mode.json) console.log(printableJson(JSON.stringify(value, bigintText, 2)));
    else console.log(this.#text(lines, process.stdout.isTTY));
  }

  /** Prints a part of the answer, for people, once known; with --json the answer has the part. */
  part(line: Line): void {
    if (this.mode.json) return;
    this.#status.clear();
    console.log(this.#text([line], process.stdout.isTTY));
  }

  /** Prints a piece of the answer's text, for people, once known: the piece brings all line breaks. */
  piece(text: string): void {
    if (this.mode.json || text === "") return;
    this.#status.clear();
    process.stdout.write(this.#text(text.split("\n"), false));
  }

  /**
   * Reports readiness for a command that continues and has no answer.
   * @param value A plain value, for --json, in one line: a waiting program reads a line.
   */
  ready(value: unknown, lines: readonly Line[]): void {
    this.#status.clear();
    console.log(this.mode.json ? jsonText(value) : this.#text(lines, process.stdout.isTTY));
  }

  /** Prints help as it is. */
  page(text: string): void {
    console.log(this.#text(text.trimEnd().split("\n"), false));
  }

  /** Prints a note besides the answer, unless --quiet is given. */
  note(lines: string | readonly string[]): void {
    this.#log("note", lines);
  }

  /** Warns of something, unless --quiet is given. */
  warn(text: string): void {
    this.#log("warning", text);
  }

  /**
   * Reports a long task's progress, unless --quiet is given: in place on a terminal, else with a line now and then.
   * @param what The things counted.
   */
  progress(what: string): Progress {
    if (this.mode.quiet) return () => {};
    return stepProgress(what, this.#progressLine());
  }

  /**
   * Says how long something will still take, unless --quiet is given.
   * @param until Unix seconds.
   * @returns Stops it.
   */
  countdown(what: string, until: bigint): () => void {
    return this.mode.quiet ? () => {} : countdown(what, until, this.#progressLine());
  }

  #progressLine(): StatusLine {
    return this.mode.json ? new StatusLine(jsonLine) : this.#status;
  }

  /** Reports why a command failed: one line, or with REFUTE_DEBUG=1 also the throwing place. */
  error(error: unknown, env: NodeJS.ProcessEnv = process.env): void {
    this.#status.clear();
    const stack = env.REFUTE_DEBUG === "1" && error instanceof Error ? stackLines(error).map(withoutPaths) : [];
    const message = this.#hint(withoutPaths(messageOf(error)));
    if (this.mode.json) {
      const { retryable = false } = error as { retryable?: boolean };
      const more = stack.length === 0 ? {} : { stack };
      return console.error(jsonText({ error: { code: codeOf(error), message, retryable, ...more } }));
    }
    const line = { text: `refute: ${message} [${codeOf(error)}]`, colour: "red" } as const;
    console.error(this.#text([line, ...stack], process.stderr.isTTY, MAX_MESSAGE));
  }

  #log(kind: "note" | "warning", lines: string | readonly string[]): void {
    if (this.mode.quiet) return;
    this.#status.clear();
    const all = [lines].flat().map(this.#hint);
    if (this.mode.json) return console.error(all.map((text) => jsonText({ [kind]: text })).join("\n"));
    const shown = all.map((text): Line => (kind === "note" ? text : { text: `warning: ${text}`, colour: "yellow" }));
    console.error(this.#text(shown, process.stderr.isTTY, MAX_MESSAGE));
  }

  #text(lines: string | readonly Line[], isTerminal: boolean, max?: number): string {
    const painted = this.mode.colour && isTerminal;
    return [lines]
      .flat()
      .map((line) => {
        if (typeof line === "string") return printable(line, max);
        const text = printable(line.text, max);
        return painted ? `\x1b[${COLOURS[line.colour]}m${text}\x1b[0m` : text;
      })
      .join("\n");
  }
}

const bigintText = (_key: string, part: unknown): unknown => (typeof part === "bigint" ? String(part) : part);

/** A value as JSON in one line. */
const jsonText = (value: unknown): string => printableJson(JSON.stringify(value, bigintText));

const jsonLine = {
  isTTY: false,
  write: (text: string): void => console.error(jsonText({ progress: text.trimEnd() })),
};

const messageOf = (error: unknown): string => {
  if (isExpected(error)) return error.message;
  const what = error instanceof Error ? `${error.name}: ${firstLine(error.message)}` : String(error);
  return `unexpected: ${what}; REFUTE_DEBUG=1 shows where, please report it`;
};

const firstLine = (text: string): string => text.split("\n")[0]!;
