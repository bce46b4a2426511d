import { Command } from "commander";
import type { Hex } from "viem";
import { jobState, type JobState } from "../../sdk/result.ts";
import { timeText } from "../amount.ts";
import { chainSettings, readerFrom } from "../chainSettings.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { as, jobId } from "../parse.ts";
import { addSettings, readSettings, toggle } from "../settings.ts";
import { outputLines, outputsJson, resultLines, waitOnTerminal } from "../waiting.ts";

const settings = {
  ...chainSettings,
  wait: toggle("wait until the result is final and delivered, also while no node answers"),
};

/** `refute result`: what the chain says of a job, and its outputs. Reads only: no key and no model are needed. */
export function resultCommand(output: Output): Command {
  const command = new Command("result")
    .description("show a job's state, claims and delivered outputs, from the chain alone")
    .argument("<job>", "id of a job", as(jobId, "JOB"))
    .action(async (job: Hex, _options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      if (values.wait) {
        const { outputs, ...result } = await waitOnTerminal(output, job, false, () => readerFrom(values));
        const value = { job, ...result, outputs: outputsJson(outputs, outputName) };
        return output.answer(value, resultLines({ outputs, ...result }, outputName));
      }
      const { outputs, ...state } = await jobState(await readerFrom(values), job);
      const value = { job, ...state, outputs: outputsJson(outputs, outputName) };
      output.answer(value, stateLines(job, { outputs, ...state }));
    });
  return addExamples(addSettings(command, settings), "result JOB", "result JOB --wait");
}

/** The chain does not know the names of a model's outputs. */
const outputName = (output: number): string => `output ${output}`;

const stateLines = (job: Hex, { status, claims, outputs }: JobState): string[] => [
  `job ${job}`,
  `status ${status}`,
  ...claims.map(({ worker, traceRoot, windowEnd, gamesOpen, refuted, finalised }) => {
    const open = gamesOpen === 0 ? "" : `, games open ${gamesOpen}`;
    const fate = refuted ? "refuted" : finalised ? "final" : `may be disputed until ${timeText(windowEnd)}${open}`;
    return `claim by ${worker}, trace root ${traceRoot}: ${fate}`;
  }),
  ...outputLines(outputs, outputName),
];
