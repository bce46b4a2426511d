import { Command } from "commander";
import { addonFailure } from "../../base/platform.ts";
import { withoutKeys } from "../../base/redact.ts";
import { UsageError } from "../errors.ts";
import { addGlobalOptions } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { commonFlags, leftOutText } from "./helpGroups.ts";
import { helpScreen, nounHelp } from "./helpScreen.ts";
import { commandAt, wordsOf } from "./walk.ts";
import { allCommands, topWord, WORDS, type Word } from "./words.ts";
import { own } from "./own.ts";

/**
 * The command line's words as commander knows them. A command has only a name until loaded: all imports of commands
 * take more than a second to load.
 */
export class CommandTree {
  readonly program: Command;
  readonly #output: Output;
  readonly #showsAll: boolean;
  readonly #loaded = new WeakSet<Command>();

  /** @param showsAll Whether helps show rare flags too. */
  constructor(output: Output, showsAll = false) {
    [this.#output, this.#showsAll] = [output, showsAll];
    this.program = this.#prepared(new Command("refute")).configureHelp({ formatHelp: helpScreen });
    for (const [group, words] of Object.entries(WORDS))
      for (const [name, word] of Object.entries(words))
        this.program.addCommand(this.#stub(name, word).helpGroup(group));
  }

  /** Loads a command. @throws {CannotRunHereError} if an addon needed by the command cannot be loaded */
  async load(words: readonly string[]): Promise<void> {
    const load = wordAt(words)?.load;
    const stub = commandAt(this.program, words)!;
    if (load === undefined || this.#loaded.has(stub)) return;
    const create = await load().catch((cause: unknown) => {
      throw addonFailure(cause) ?? cause;
    });
    const command = this.#prepared(create(this.#output)).summary(stub.summary()).helpGroup(stub.helpGroup());
    for (const part of stub.commands) command.addCommand(part);
    const subcommandTerm = (part: Command): string => part.name();
    command.configureHelp({ subcommandTerm, ...(!this.#showsAll && { visibleOptions: commonFlags }) });
    if (!this.#showsAll) command.addHelpText("after", () => leftOutText(command));
    replace(stub, command);
    this.#loaded.add(command);
  }

  async loadAll(): Promise<void> {
    for (const words of allCommands()) await this.load(words);
  }

  /** Makes a command without flags and arguments, and with the noun's help if the word is a noun. */
  #stub(name: string, word: Word): Command {
    const command = this.#prepared(new Command(name)).summary(word.about);
    for (const [part, each] of Object.entries(word.commands ?? {})) command.addCommand(this.#stub(part, each));
    return word.load === undefined ? command.configureHelp({ formatHelp: () => nounHelp(name, word) }) : command;
  }

  /** Errors of parsing become errors as any others; help and version go where answers go. */
  #prepared(command: Command): Command {
    return addGlobalOptions(command)
      .helpCommand(false)
      .configureOutput({ outputError: () => {}, writeErr: () => {}, writeOut: (text) => this.#output.page(text) })
      .exitOverride((error) => {
        if (error.exitCode === 0) throw error;
        const words = wordsOf(command);
        const name = ["refute", ...words].join(" ");
        if (error.code === "commander.help") throw new UsageError(`no command is given; ${name} --help lists them`);
        // The message repeats the unknown text, which may be a key in the wrong place.
        const what = withoutKeys(error.message)
          .replace(/^error: /, "")
          .replace(/\s*\n\s*/g, " ");
        const shown = wordAt(words)?.load === undefined ? "commands" : "options";
        throw new UsageError(`${what}; ${name} --help shows all ${shown}`);
      });
  }
}

function wordAt([first, second]: readonly string[]): Word | undefined {
  const word = first === undefined ? undefined : topWord(first);
  return second === undefined ? word : own(word?.commands ?? {}, second);
}

/** Replaces a command among the commands of their parent. */
function replace(old: Command, command: Command): void {
  const { commands } = old.parent!;
  command.parent = old.parent;
  (commands as Command[]).splice(commands.indexOf(old), 1, command);
}
