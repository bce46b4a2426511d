import { Command } from "commander";
import type { Address } from "viem";
import { table } from "../../../base/text.ts";
import { listWorkers } from "../../../parties/requester/listWorkers.ts";
import { amountText, timeText } from "../../amount.ts";
import { chainSettings, readerFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { address } from "../../parse.ts";
import { addSettings, optional, readSettings } from "../../settings.ts";

const settings = {
  ...chainSettings,
  exams: optional<Address>("address", "the deployment's exams: shows the classes that workers hold", address),
};

/** `refute account workers`: the workers of a market, with stake and record. Reads only: no key is needed. */
export function workersCommand(output: Output): Command {
  const command = new Command("workers")
    .description("list the workers that have claimed jobs, with their stake and record")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const reader = await readerFrom(values);
      const [workers, money] = [await listWorkers(reader, values.exams), await moneyOf(reader)];
      const rows = workers.map(({ worker, staked, locked, since, refuted, late, live, finalised, classes }) => [
        worker,
        `${money(staked)} staked, ${money(locked)} locked`,
        `since ${timeText(since)}, refuted ${refuted}, late ${late}, final ${finalised}${live ? "" : ", not attested"}`,
        ...(classes === undefined ? [] : [`classes ${classes.join(", ") || "none"}`]),
      ]);
      const listed = workers.map(({ staked, locked, ...worker }) => ({
        ...worker,
        staked: amountText(staked),
        locked: amountText(locked),
      }));
      output.answer({ workers: listed }, rows.length === 0 ? "no worker has claimed a job yet" : table(rows));
    });
  return addExamples(addSettings(command, settings), "account workers", "account workers --exams 0x...");
}
