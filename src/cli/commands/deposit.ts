import { Command } from "commander";
import { deposit } from "../../market/ledger.ts";
import { amountText, ledgerText, parseAmount } from "../amount.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { ShortOfFundsError } from "../errors.ts";
import { print } from "../output.ts";
import { readSettings } from "../settings.ts";

/** `refute deposit`: tokens become credit in the vault. */
export function depositCommand(): Command {
  return addChainOptions(new Command("deposit"))
    .description("move stake asset of this account into the vault, as its credit")
    .argument("<amount>", "in whole units of the stake asset")
    .action(async (text: string, _options: unknown, command: Command) => {
      const amount = parseAmount(text);
      const session = await sessionFrom(readSettings(command, chainShape));
      const { address } = session.sender;
      const held = await session.asset.balanceOf(address);
      if (held < amount) {
        const { asset } = session.deployment;
        throw new ShortOfFundsError(`${address} holds ${amountText(held)} of the stake asset ${asset}, not ${text}`);
      }
      await deposit(session, amount);
      print(ledgerText(await session.vault.accountOf(address)));
    });
}
