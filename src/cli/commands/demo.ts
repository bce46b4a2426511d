import { Command } from "commander";
import { addExamples } from "../globalOptions.ts";
import { requirePackages } from "../../base/optionalPackage.ts";
import { ANVIL_PACKAGE } from "../../deploy/devnet/anvil.ts";
import { DEMO_MODEL } from "../../deploy/demo/model.ts";
import type { Output } from "../output.ts";

/** `refute devnet demo`: a real model, an honest job and a cheating worker, on a chain beside this process. */
export function demoCommand(output: Output): Command {
  const command = new Command("demo")
    .description("play one real model on a chain of its own: an honest job, then a cheating worker who is refuted")
    .action(async () => {
      const packages = ["@nomicfoundation/ignition-core", ANVIL_PACKAGE, "onnxruntime-node", DEMO_MODEL];
      requirePackages(packages, "refute devnet demo");
      const { anvilSetting } = await import("../../deploy/demo/anvilChain.ts");
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
