import { Command } from "commander";
import { WrappedEther } from "../../../chain/clients/wrappedEther.ts";
import { deposit } from "../../../chain/market/deposit.ts";
import type { Session } from "../../../chain/market/session.ts";
import { amountAboveZero } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import type { Output } from "../../output.ts";
import { as } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute account deposit`: tokens become credit in the vault. */
export function depositCommand(output: Output): Command {
  const command = new Command("deposit")
    .description("move stake asset of this account into the vault, as its credit")
    .argument("<amount>", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .option("--wrap", "first turn coins of the chain into what the account lacks of the stake asset")
    .action(async (amount: bigint, { wrap }: { wrap?: true }, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      if (wrap) await wrapMissing(session, amount);
      await deposit(session, amount);
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "account deposit 0.5", "account deposit 0.5 --wrap");
}

/** Wraps what the account's tokens lack of an amount. The stake asset takes the chain's coins (docs/deploying.md). */
async function wrapMissing({ asset, sender, deployment }: Session, amount: bigint): Promise<void> {
  const held = await asset.balanceOf(sender.address);
  if (held < amount) await new WrappedEther(deployment.asset, { sender }).deposit(amount - held);
}
