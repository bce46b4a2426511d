import { Command } from "commander";
import { isAddressEqual, type Hex } from "viem";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { JobStateError } from "../../errors.ts";
import { findJob } from "./findJob.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import type { Output } from "../../output.ts";
import { as, jobId } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute job cancel`: the requester takes back a job that nobody has claimed. */
export function cancelCommand(output: Output): Command {
  const command = new Command("cancel")
    .description("take back a job of this account that no worker has claimed; its fee becomes credit again")
    .argument("<job>", "id of a job", as(jobId, "JOB"))
    .action(async (id: Hex, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      const { job: record } = await findJob(session, id);
      const { job, closed, holder, claims } = record;
      if (!isAddressEqual(job.requester, session.sender.address))
        throw new JobStateError(
          `job ${id} is of ${job.requester}, not of ${session.sender.address}: only it may cancel`,
        );
      if (closed) throw new JobStateError(`job ${id} is closed already; its fee went back`);
      if (holder !== undefined)
        throw new JobStateError(`job ${id} is claimed by ${holder.worker}: refute job expire frees it if that is late`);
      if (claims.some(({ refuted }) => !refuted))
        throw new JobStateError(`job ${id} has a claim that is not refuted: it cannot be cancelled any more`);
      await session.market.cancel(job);
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "job cancel JOB");
}
