import { Command } from "commander";
import { zeroAddress, type Address } from "viem";
import { ShortOfFundsError } from "../../../chain/errors.ts";
import { amountAboveZero } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { address, as, unfit, type Parse } from "../../parse.ts";
import { addSettings, readSettings, required } from "../../settings.ts";

const recipient: Parse<Address> = (text, name) => {
  const to = address(text, name);
  if (to === zeroAddress) throw unfit(text, name, "an address of somebody: the zero address is nobody's");
  return to;
};

const settings = { ...accountSettings, to: required("address", "who gets it", recipient) };

/** `refute account withdraw`: credit leaves the vault as tokens. */
export function withdrawCommand(output: Output): Command {
  const command = new Command("withdraw")
    .description("send credit of this account to an address, as stake asset")
    .argument("<amount>", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .action(async (amount: bigint, _options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const session = await sessionFrom(values);
      const own = session.sender.address;
      const { credit } = await session.vault.accountOf(own);
      if (credit < amount) {
        const money = await moneyOf(session);
        throw new ShortOfFundsError(`${own} has credit ${money(credit)}, not ${money(amount)}`);
      }
      await session.vault.withdraw(amount, values.to);
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, settings), `account withdraw 0.5 --to 0x${"70".repeat(20)}`);
}
