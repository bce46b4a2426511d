import { Command } from "commander";
import type { Hex } from "viem";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { ContractRevertError } from "../../../chain/errors.ts";
import { timeText } from "../../amount.ts";
import { JobStateError, NotReadyError } from "../../errors.ts";
import { findJob } from "./findJob.ts";
import { addExamples } from "../../globalOptions.ts";
import { answerLedger } from "../../ledger.ts";
import type { Output } from "../../output.ts";
import { as, jobId } from "../../parse.ts";
import { addSettings, readSettings } from "../../settings.ts";

/** `refute job reclaim`: returns a job's fee to the requester if outputs were not delivered. */
export function reclaimCommand(output: Output): Command {
  const command = new Command("reclaim")
    .description("return a job's fee to its requester, if a week after its result was final outputs are missing")
    .argument("<job>", "id of a job", as(jobId, "JOB"))
    .action(async (id: Hex, _options: unknown, command: Command) => {
      const session = await sessionFrom(readSettings(command, accountSettings));
      const { job } = await findJob(session, id);
      const final = job.claims.find(({ finalised }) => finalised);
      if (final === undefined)
        throw new JobStateError(`job ${id} has no final result; refute status tells how far it is`);
      if (final.reclaimed) throw new JobStateError(`the fee of job ${id} went back already`);
      if (final.paid) throw new JobStateError(`the fee of job ${id} was paid: all outputs were delivered or accepted`);
      await session.market.reclaim(final.claim).catch((error: unknown) => {
        // Only the contract knows since when the claim is final.
        if (!(error instanceof ContractRevertError) || error.errorName !== "TimeNotUp") throw error;
        const until = timeText(error.args[0] as bigint);
        throw new NotReadyError(`outputs of job ${id} may be delivered until ${until}: run this again after that`);
      });
      await answerLedger(output, session);
    });
  return addExamples(addSettings(command, accountSettings), "job reclaim JOB");
}
