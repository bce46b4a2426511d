import { Command } from "commander";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { as, oneOf } from "../../parse.ts";
import { completionScript, SHELLS, type Shell } from "../../words/completion.ts";
import { programOf } from "../../words/walk.ts";

/** `refute help completion`: names of commands and options, completed by a shell. */
export function completionCommand(output: Output): Command {
  const command = new Command("completion")
    .description("print a script with which a shell completes commands and options")
    .argument("<shell>", SHELLS.join(", "), as(oneOf(...SHELLS), "SHELL"))
    .action((shell: Shell, _options: unknown, command: Command) => {
      const lines = completionScript(shell, programOf(command));
      output.answer({ shell, script: lines.join("\n") }, lines);
    });
  return addExamples(
    command,
    "help completion bash > ~/.local/share/bash-completion/completions/refute",
    "help completion fish > ~/.config/fish/completions/refute.fish",
  );
}
