import { Command } from "commander";
import { PledgedClaims } from "../../../chain/clients/pledgedClaims.ts";
import { PledgeStatus } from "../../../chain/structs.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { answerPledge } from "./answerPledge.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute tickets unpledge`: requests the pledge back, and unlocks the pledge once nothing rests on it. */
export function unpledgeCommand(output: Output): Command {
  const command = new Command("unpledge")
    .description("ask this account's pledge back; the same command later unlocks it")
    .action(async (_options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      const pledges = new PledgedClaims(session.deployment.market, session);
      const { status } = await pledges.pledgeOf(session.sender.address);
      await (status === PledgeStatus.releasing ? pledges.release() : pledges.requestRelease());
      await answerPledge(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "tickets unpledge --market CLAIMS");
}
