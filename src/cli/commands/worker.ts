import { Command } from "commander";
import { parseUnits } from "viem";
import { z } from "zod";
import { FastExecutors } from "../../chain/game/fastExecute.ts";
import { runWorker } from "../../worker/worker.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { createLogger } from "../log.ts";
import { loadProgram, readModels } from "../models.ts";
import { readSettings } from "../settings.ts";
import { stopSignal } from "../stop.ts";

const shape = {
  ...chainShape,
  models: z.string(),
  minFee: z.coerce.string().default("0"),
  marginSeconds: z.coerce.number().int().nonnegative().default(60),
  selfAudit: z.coerce.number().int().nonnegative().default(8),
  interval: z.coerce.number().positive().default(4),
};

/** `refute worker`: serve jobs until stopped. */
export function workerCommand(): Command {
  return addChainOptions(new Command("worker"))
    .description("serve jobs: claim, execute, submit, answer disputes, finalise, deliver, collect")
    .option("--models <file>", "JSON array of {path, shapes, uint8}: the models to serve (or REFUTE_MODELS)")
    .option("--min-fee <amount>", "least fee, in whole units of the stake asset (or REFUTE_MIN_FEE)")
    .option("--margin-seconds <n>", "time to spare that a claim must leave (or REFUTE_MARGIN_SECONDS)")
    .option("--self-audit <n>", "elements that the chain recomputes, free, before a submission (or REFUTE_SELF_AUDIT)")
    .option("--interval <seconds>", "pause between rounds (or REFUTE_INTERVAL)")
    .action(async (_options: unknown, command: Command) => {
      const settings = readSettings(command, shape);
      const log = createLogger(settings.logLevel);
      const programs = readModels(settings.models).map(loadProgram);
      const session = await sessionFrom(settings);
      const executors = new FastExecutors();
      const signal = stopSignal(() => log.info("stopping after this round; once more to stop at once"));
      await runWorker({
        session,
        programs,
        execute: executors.execute,
        policy: { minFee: parseUnits(settings.minFee, 18), marginSeconds: settings.marginSeconds },
        selfAuditSamples: settings.selfAudit,
        signal,
        intervalMs: settings.interval * 1_000,
        log,
      });
      await executors.close();
    });
}
