import { Command } from "commander";
import type { Address } from "viem";
import { PledgedClaims } from "../../../chain/clients/pledgedClaims.ts";
import { ShortOfFundsError } from "../../../chain/errors.ts";
import { PledgeStatus } from "../../../chain/structs.ts";
import { openExamClaims } from "../../../attestation/exams/openExamClaims.ts";
import { ineligibility } from "../../../attestation/eligibility.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { NotAttestedError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerPledge } from "./answerPledge.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { address } from "../../parse.ts";
import { addSettings, optional, readSettings } from "../../settings.ts";

const settings = {
  ...accountSettings,
  examClaims: optional<Address>("address", "enrol there too: the pledge backs what is sat of exams", address, "none"),
};

/** `refute tickets pledge`: locks one collateral behind all future signatures from the account. */
export function pledgeCommand(output: Output): Command {
  const command = new Command("pledge")
    .description("lock one collateral of this account's stake behind the claims that it signs from now on")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const session = await sessionFrom(values);
      const own = session.sender.address;
      const claimContracts = values.examClaims && (await openExamClaims(session, values.examClaims));
      const pledges = new PledgedClaims(session.deployment.market, session);
      if ((await pledges.pledgeOf(own)).status === PledgeStatus.none) {
        const why = ineligibility(await session.provisioning.eligibilityOf(own));
        if (why !== undefined) throw new NotAttestedError(`${own} is not attested: ${why}`);
        const { staked, locked } = await session.vault.accountOf(own);
        const { collateral } = session.deployment.parameters;
        if (staked - locked < collateral) {
          const money = await moneyOf(session);
          throw new ShortOfFundsError(
            `${own} has free stake ${money(staked - locked)} in the vault of these claims, and a pledge takes ` +
              `${money(collateral)}: refute account deposit and refute account stake first, with the ` +
              "same --market",
          );
        }
        await pledges.pledge();
      }
      if (claimContracts !== undefined) {
        const { time } = await pledges.pledgeOf(own);
        if ((await claimContracts.examClaims.enrolmentOf(own)).pledged !== time)
          await claimContracts.examClaims.enrol(own);
      }
      await answerPledge(output, session);
    });
  return addExamples(
    addSettings(command, settings),
    "tickets pledge --market CLAIMS",
    "tickets pledge --market CLAIMS --exam-claims 0x...",
  );
}
