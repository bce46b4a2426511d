import { CommanderError, type Command } from "commander";
import { RefuteError } from "../base/errors.ts";
import { exitStatusOf, ExitStatus } from "./exitStatus.ts";
import { Output, outputMode } from "./output.ts";
import { hasForeignSettings } from "./settings.ts";
import { HELP_FLAGS, isFlag, withHelpFlag } from "./words/arguments.ts";
import { CommandTree } from "./words/commandTree.ts";
import { findCommand } from "./words/findCommand.ts";
import { ALL } from "./words/helpGroups.ts";
import { pasteable } from "./words/hints.ts";
import { helpDocument } from "./words/helpDocument.ts";
import { withNewWords } from "./words/oldWords.ts";
import { oldWordNote } from "./words/oldWordTable.ts";

/** The commands that tell of all others. */
const ABOUT_ALL = ["config", "help completion"];

/**
 * Runs the command line.
 * @returns the exit status (docs/cli.md). For a status other than 0, stderr has one clear line.
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const output = new Output(outputMode(args, process.env), (text) => pasteable(text));
  try {
    const onOldWord = (old: string, words: string): void => output.note(oldWordNote(old, words));
    await execute(withNewWords(withHelpFlag(args), onOldWord), output);
    return ExitStatus.done;
  } catch (thrown) {
    // Help and version were printed.
    if (thrown instanceof CommanderError) return ExitStatus.done;
    const error = await asKnownError(thrown);
    output.error(error);
    return exitStatusOf(error);
  }
}

async function execute(args: readonly string[], output: Output): Promise<void> {
  const asksForHelp = args.some((arg) => HELP_FLAGS.includes(arg));
  const words = asksForHelp && args.every(isFlag) ? [] : findCommand(args);
  const isDocument = output.mode.json && asksForHelp;
  const tree = new CommandTree(output, isDocument || args.includes(ALL) || words[0] === "help");
  const { program } = tree;
  if (isDocument) {
    await tree.loadAll();
    return output.answer(helpDocument(program, words), []);
  }
  await (ABOUT_ALL.includes(words.join(" ")) ? tree.loadAll() : tree.load(words));
  // Only all commands together know which settings in a shared file are unknown.
  program.hook("preAction", async (_program: Command, command: Command) => {
    if (hasForeignSettings(command)) await tree.loadAll();
  });
  await program.parseAsync([...args], { from: "user" });
}

/** Returns the failure, translated to a Refute error if known. */
async function asKnownError(thrown: unknown): Promise<unknown> {
  if (thrown instanceof RefuteError) return thrown;
  const { translateError } = await import("../chain/translateError.ts");
  return translateError(thrown, "the command");
}
