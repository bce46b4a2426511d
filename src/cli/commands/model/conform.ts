import { Command } from "commander";
import { countKinds, runFolder, type NamedResult } from "../../../examine/conform/runFolder.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { NegativeVerdict } from "../../errors.ts";

/** `refute model conform`: ONNX backend cases through the compiler and exact execution. */
export function conformCommand(output: Output): Command {
  const command = new Command("conform")
    .description("run ONNX backend test cases; a refusal is no failure, a wrong answer is never a refusal")
    .argument("<folder>", "a case (model.onnx and test_data_set_N), or a folder of cases")
    .action(async (folder: string) => {
      const progress = output.progress("case");
      const results = await runFolder(folder, (_result, done, total) => progress(done, total));
      const counts = countKinds(results);
      const bound = results.filter((result) => result.kind === "passed" && result.bound).length;
      output.answer({ ...counts, cases: results }, [
        ...results.filter(({ kind }) => kind !== "passed").map(line),
        ...(bound > 0 ? [`${bound} of those passed with inputs that were bound at compile time`] : []),
        `${counts.passed} passed, ${counts.failed} failed, ${counts.refused} refused`,
      ]);
      if (counts.failed > 0) throw new NegativeVerdict(`${counts.failed} cases of ${folder} failed`);
    });
  return addExamples(command, "model conform onnx/backend/test/data/node");
}

const line = ({ name, kind, detail }: NamedResult): string => `${name}: ${kind}: ${detail}`;
