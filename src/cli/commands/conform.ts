import { Command } from "commander";
import { countKinds, runFolder, type NamedResult } from "../../examine/conform/runFolder.ts";
import { print, printJson } from "../output.ts";
import { stepProgress } from "../progress.ts";
import { NegativeVerdict } from "../errors.ts";

/** `refute conform`: ONNX backend cases through the compiler and exact execution. */
export function conformCommand(): Command {
  return new Command("conform")
    .description("run ONNX backend test cases; a refusal is no failure, a wrong answer is never a refusal")
    .argument("<folder>", "a case (model.onnx and test_data_set_N), or a folder of cases")
    .option("--json", "print JSON")
    .action(async (folder: string, { json }: { json?: boolean }) => {
      const progress = stepProgress("case");
      const results = await runFolder(folder, (result, done, total) => {
        progress(done, total);
        if (json !== true && result.kind !== "passed") print(line(result));
      });
      const counts = countKinds(results);
      if (json === true) printJson({ ...counts, cases: results });
      else {
        const bound = results.filter((result) => result.kind === "passed" && result.bound).length;
        if (bound > 0) print(`${bound} of those passed with inputs that were bound at compile time`);
        print(`${counts.passed} passed, ${counts.failed} failed, ${counts.refused} refused`);
      }
      if (counts.failed > 0) throw new NegativeVerdict(`${counts.failed} cases of ${folder} failed`);
    });
}

const line = ({ name, kind, detail }: NamedResult): string => `${name}: ${kind}: ${detail}`;
