import { Command } from "commander";
import type { Hex } from "viem";
import { redeliver } from "../../../parties/requester/redeliver.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { as, jobId } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute job redeliver`: anybody has the market call a requester's contract again whose callback failed. */
export function redeliverCommand(output: Output): Command {
  const command = new Command("redeliver")
    .description("have the market call the requester's contract again with outputs whose callback failed; anybody may")
    .argument("<job>", "id of a job", as(jobId, "JOB"))
    .action(async (id: Hex, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      const { made, failed } = await redeliver(session, id);
      const still = `its callback fails with its gas, which nobody can raise, for output ${failed.join(", ")}`;
      output.answer({ job: id, made, failed }, failed.length === 0 ? `taken: output ${made.join(", ")}` : still);
    });
  return addExamples(addSettings(command, accountSettings), "job redeliver JOB");
}
