import { Command } from "commander";
import { amountText, ledgerText, parseAmount } from "../amount.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { NotAttestedError, ShortOfFundsError } from "../errors.ts";
import { print } from "../output.ts";
import { readSettings } from "../settings.ts";

/** `refute stake`: credit becomes stake, if the attestation is live. */
export function stakeCommand(): Command {
  return addChainOptions(new Command("stake"))
    .description("turn credit of this account into stake; needs a live attestation")
    .argument("<amount>", "in whole units of the stake asset")
    .action(async (text: string, _options: unknown, command: Command) => {
      const amount = parseAmount(text);
      const session = await sessionFrom(readSettings(command, chainShape));
      const { address } = session.sender;
      if (!(await session.provisioning.isLive(address))) {
        throw new NotAttestedError(`${address} has no live attestation: register its reports with refute attest`);
      }
      const { credit } = await session.vault.accountOf(address);
      if (credit < amount) {
        throw new ShortOfFundsError(`${address} has credit ${amountText(credit)}, not ${text}: refute deposit first`);
      }
      await session.vault.stake(amount);
      print(ledgerText(await session.vault.accountOf(address)));
    });
}
