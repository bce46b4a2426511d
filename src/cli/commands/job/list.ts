import { Command } from "commander";
import type { Address } from "viem";
import { table } from "../../../base/text.ts";
import { jobsOf } from "../../../parties/requester/jobRecords.ts";
import { amountText, timeText } from "../../amount.ts";
import { accountSettings, readerFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { address, whole } from "../../parse.ts";
import { addSettings, defaulted, optional, readSettings } from "../../settings.ts";

const settings = {
  ...accountSettings,
  requester: optional<Address>("address", "whose jobs, an account or a contract", address, "the account of the key"),
  last: defaulted("n", "of the latest jobs, so many", whole(1, 1_000), 20),
};

/** `refute job list`: the jobs of a requester. Reads only: with --requester no key is needed. */
export function listCommand(output: Output): Command {
  const command = new Command("list")
    .description("list the jobs that this account, or another requester, posted on a market, oldest first")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const requester = values.requester ?? (await loadAccount(values)).address;
      const reader = await readerFrom(values);
      const { jobs, total } = await jobsOf(reader, requester, values.last);
      const money = await moneyOf(reader);
      const listed = jobs.map(({ fee, posted, deadline, ...job }) => ({
        ...job,
        fee: amountText(fee),
        posted: timeText(posted),
        deadline: timeText(deadline),
      }));
      // After the end of a job, its last claim names the worker.
      const rows = jobs.map(({ job, status, fee, posted, worker, claim }) => [
        ...[job, timeText(posted), status, money(fee)],
        worker ?? claim?.worker ?? "",
      ]);
      const more = total > jobs.length ? [`the latest ${jobs.length} of ${total}: --last N shows more`] : [];
      const lines = [...table([["job", "posted", "status", "fee", "worker"], ...rows]), ...more];
      output.answer({ requester, total, jobs: listed }, total === 0 ? `no job by ${requester} on this market` : lines);
    });
  return addExamples(addSettings(command, settings), "job list", "job list --requester ADDRESS --last 100");
}
