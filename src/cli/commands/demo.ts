import { Command } from "commander";
import { addExamples } from "../globalOptions.ts";
import { missingPackage } from "../missingPackage.ts";
import type { Output } from "../output.ts";

/** `refute devnet demo`: a real model, an honest job and a cheating worker, on a chain beside this process. */
export function demoCommand(output: Output): Command {
  const command = new Command("demo")
    .description("play one real model on a chain of its own: an honest job, then a cheating worker who is refuted")
    .action(async () => {
      const { anvilSetting } = await import("../../deploy/demo/anvilChain.ts").catch(
        missingPackage("@nomicfoundation/ignition-core@3.1.9"),
      );
      const { runDemo } = await import("../../deploy/demo/demo.ts");
      const { Narrator } = await import("../../deploy/demo/narrator.ts");
      const { lastLine } = await import("../../deploy/demo/figures.ts");
      const figures = await runDemo(
        new Narrator((line) => line.split("\n").forEach((each) => output.part(each))),
        anvilSetting,
      );
      output.answer(figures, lastLine(figures));
    });
  return addExamples(command, "devnet demo");
}
