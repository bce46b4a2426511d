import { Command } from "commander";
import { ShortOfFundsError } from "../../../chain/errors.ts";
import { ineligibility } from "../../../attestation/eligibility.ts";
import { amountAboveZero } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { NotAttestedError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { as } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute account stake`: credit becomes stake, if the attestation is live. */
export function stakeCommand(output: Output): Command {
  const command = new Command("stake")
    .description("turn credit of this account into stake; needs a live attestation")
    .argument("<amount>", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .action(async (amount: bigint, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      const { address } = session.sender;
      const why = ineligibility(await session.provisioning.eligibilityOf(address));
      if (why !== undefined) {
        throw new NotAttestedError(`${address} is not attested: ${why}`);
      }
      const { credit } = await session.vault.accountOf(address);
      if (credit < amount) {
        const money = await moneyOf(session);
        const has = `${address} has credit ${money(credit)}, not ${money(amount)}`;
        throw new ShortOfFundsError(`${has}: refute account deposit first`);
      }
      await session.vault.stake(amount);
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "account stake 1.8");
}
