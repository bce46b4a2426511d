import { Command } from "commander";
import { isAddress, zeroAddress } from "viem";
import { z } from "zod";
import { amountText, ledgerText, parseAmount } from "../amount.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { ShortOfFundsError } from "../errors.ts";
import { print } from "../output.ts";
import { readSettings } from "../settings.ts";

const recipient = z
  .string()
  .refine((text) => isAddress(text), "expected an address, 0x and 40 hexadecimal digits")
  .refine((text) => text !== zeroAddress, "the zero address is nobody's")
  .transform((text) => text);

const shape = { ...chainShape, to: recipient };

/** `refute withdraw`: credit leaves the vault as tokens. */
export function withdrawCommand(): Command {
  return addChainOptions(new Command("withdraw"))
    .description("send credit of this account to an address, as stake asset")
    .argument("<amount>", "in whole units of the stake asset")
    .option("--to <address>", "who gets it (or REFUTE_TO)")
    .action(async (text: string, _options: unknown, command: Command) => {
      const amount = parseAmount(text);
      const settings = readSettings(command, shape);
      const session = await sessionFrom(settings);
      const { address } = session.sender;
      const { credit } = await session.vault.accountOf(address);
      if (credit < amount) throw new ShortOfFundsError(`${address} has credit ${amountText(credit)}, not ${text}`);
      await session.vault.withdraw(amount, settings.to);
      print(ledgerText(await session.vault.accountOf(address)));
    });
}
