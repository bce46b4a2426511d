import { Command } from "commander";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute device release`: the account's device is free for another worker. */
export function releaseCommand(output: Output): Command {
  const command = new Command("release")
    .description("give this worker's device up: it is free for another worker at once, and this one may not claim")
    .action(async (_options: unknown, command: Command) => {
      const { provisioning, sender } = await sessionFrom(readSettings(command, accountSettings));
      const device = await provisioning.deviceOf(sender.address);
      await provisioning.release();
      output.answer({ device }, `free: ${device}`);
    });
  return addExamples(addSettings(command, accountSettings), "device release");
}
