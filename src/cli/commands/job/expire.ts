import { Command } from "commander";
import type { Hex } from "viem";
import { timeText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { JobStateError, NotReadyError } from "../../errors.ts";
import { findJob } from "./findJob.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import type { Output } from "../../output.ts";
import { as, jobId } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute job expire`: anybody frees a job with a late worker, or closes a job that nobody took in time. */
export function expireCommand(output: Output): Command {
  const command = new Command("expire")
    .description("free a job whose worker is late, or close one that nobody took in time; anybody may")
    .argument("<job>", "id of a job", as(jobId, "JOB"))
    .action(async (id: Hex, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      const { job: record, now } = await findJob(session, id);
      const { job, terms, closed, holder, claims } = record;
      if (closed) throw new JobStateError(`job ${id} is closed already; its fee went back`);
      if (holder === undefined && claims.some(({ refuted }) => !refuted))
        throw new JobStateError(`job ${id} has a claim that is not refuted: it cannot expire any more`);
      const until = holder?.until ?? job.deadline - BigInt(job.claimSeconds);
      if (now <= until)
        throw new NotReadyError(`job ${id} is in time until ${timeText(until)}: run this again after that`);
      await session.market.expire(job, holder === undefined ? undefined : terms);
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "job expire JOB");
}
