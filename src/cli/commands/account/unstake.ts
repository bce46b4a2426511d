import { Command } from "commander";
import type { Session } from "../../../chain/market/session.ts";
import { ShortOfFundsError } from "../../../chain/errors.ts";
import { amountAboveZero, timeText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { NotReadyError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { as } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute account unstake`: ask stake back, and after the delay turn it into credit. */
export function unstakeCommand(output: Output): Command {
  const command = new Command("unstake")
    .description("ask unlocked stake back; without an amount, turn into credit what was asked back and is ready")
    .argument("[amount]", "such as 0.5, in whole units of the stake asset, or 50gwei", as(amountAboveZero, "AMOUNT"))
    .action(async (amount: bigint | undefined, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      await (amount === undefined ? collect(session) : request(session, amount));
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "account unstake 0.5", "account unstake");
}

async function request(session: Session, amount: bigint): Promise<void> {
  const { address } = session.sender;
  const { staked, locked, withdrawing, readyAt } = await session.vault.accountOf(address);
  const free = staked - locked;
  if (free < amount) {
    const money = await moneyOf(session);
    const what = `${address} has ${money(free)} of unlocked stake, not ${money(amount)}`;
    throw new ShortOfFundsError(`${what}; ${money(locked)} backs claims`);
  }
  // A new request restarts the delay for all requested stake: ready stake is taken out first.
  if (withdrawing > 0n && (await now(session)) >= readyAt) await session.vault.unstake();
  await session.vault.requestWithdraw(amount);
}

async function collect(session: Session): Promise<void> {
  const { address } = session.sender;
  const { withdrawing, readyAt } = await session.vault.accountOf(address);
  if (withdrawing === 0n) {
    throw new ShortOfFundsError(`${address} has asked no stake back: refute account unstake AMOUNT asks`);
  }
  if ((await now(session)) < readyAt) {
    const money = await moneyOf(session);
    throw new NotReadyError(`${money(withdrawing)} is ready at ${timeText(readyAt)}: run this again then`);
  }
  await session.vault.unstake();
}

const now = async ({ publicClient }: Session): Promise<bigint> => (await publicClient.getBlock()).timestamp;
