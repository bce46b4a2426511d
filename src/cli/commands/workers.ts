import { Command } from "commander";
import { table } from "../../text.ts";
import { listWorkers } from "../../sdk/listWorkers.ts";
import { amountText, timeText } from "../amount.ts";
import { chainSettings, readerFrom } from "../chainSettings.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { addSettings, readSettings } from "../settings.ts";

/** `refute workers`: the workers of a market, with stake and record. Reads only: no key is needed. */
export function workersCommand(output: Output): Command {
  const command = new Command("workers")
    .description("list the workers that have claimed jobs, with their stake and record")
    .action(async (_options: unknown, command: Command) => {
      const workers = await listWorkers(await readerFrom(readSettings(command, chainSettings)));
      const rows = workers.map(({ worker, staked, locked, since, refuted, late, live, finalised }) => [
        worker,
        `${amountText(staked)} staked, ${amountText(locked)} locked`,
        `since ${timeText(since)}, refuted ${refuted}, late ${late}, final ${finalised}${live ? "" : ", not attested"}`,
      ]);
      output.answer({ workers }, rows.length === 0 ? "no worker has claimed a job yet" : table(rows));
    });
  return addExamples(addSettings(command, chainSettings), "workers");
}
