import { Command } from "commander";
import { z } from "zod";
import { MAX_CALLBACK_GAS, MAX_OPEN_CLAIMS } from "../../worker/jobs.ts";
import { TracePublisher } from "../../worker/publisher.ts";
import { runWorker } from "../../worker/worker.ts";
import { parseAmountOrZero } from "../amount.ts";
import { addChainOptions } from "../chainSettings.ts";
import { play, playerShape } from "../playing.ts";
import { readSettings } from "../settings.ts";

const shape = {
  ...playerShape,
  minFee: z.coerce.string().default("0"),
  marginSeconds: z.coerce.number().int().nonnegative().default(60),
  maxCallbackGas: z.coerce.number().int().nonnegative().default(MAX_CALLBACK_GAS),
  maxOpenClaims: z.coerce.number().int().positive().default(MAX_OPEN_CLAIMS),
  publishPort: z.coerce.number().int().min(0).max(65_535).optional(),
  selfAudit: z.coerce.number().int().nonnegative().default(8),
};

/** `refute worker`: serve jobs until stopped. */
export function workerCommand(): Command {
  return addChainOptions(new Command("worker"))
    .description("serve jobs: claim, execute, submit, answer disputes, finalise, deliver, collect")
    .option("--models <file>", "JSON array of {path, shapes, uint8}: the models to serve (or REFUTE_MODELS)")
    .option(
      "--min-fee <amount>",
      "least fee above what a job's gas costs at the price of now and half as much again, in whole units of the " +
        "stake asset; 0 if left out (or REFUTE_MIN_FEE)",
    )
    .option("--margin-seconds <n>", "time to spare that a claim must leave (or REFUTE_MARGIN_SECONDS)")
    .option(
      "--max-callback-gas <n>",
      "most gas of a job's callback, which whoever delivers pays (or REFUTE_MAX_CALLBACK_GAS)",
    )
    .option(
      "--max-open-claims <n>",
      "most own claims that are neither final nor refuted: all can be disputed at once (or REFUTE_MAX_OPEN_CLAIMS)",
    )
    .option("--self-audit <n>", "elements that the chain recomputes, free, before a submission (or REFUTE_SELF_AUDIT)")
    .option(
      "--publish-port <port>",
      "serve the traces of its claims on 127.0.0.1: /<claim>/<step> (or REFUTE_PUBLISH_PORT)",
    )
    .option("--monitor-port <port>", "serve /healthz, /readyz and /metrics on 127.0.0.1 (or REFUTE_MONITOR_PORT)")
    .option("--cache <folder>", "what a restart need not do again; may be deleted at any time (or REFUTE_CACHE)")
    .option("--catalogue <source>", "file or https URL of models that may be fetched for jobs (or REFUTE_CATALOGUE)")
    .option("--licences <names>", "licences of such models, comma-separated; all if left out (or REFUTE_LICENCES)")
    .option("--fetch-mib <n>", "MiB of models fetched, at most, until the process ends (or REFUTE_FETCH_MIB)")
    .option("--keep-mib <n>", "MiB of executions kept in memory for games (or REFUTE_KEEP_MIB)")
    .option(
      "--untried-platform",
      "run where nobody has tried Refute, at your own risk (or REFUTE_UNTRIED_PLATFORM=true)",
    )
    .option("--interval <seconds>", "pause between rounds (or REFUTE_INTERVAL)")
    .action(async (_options: unknown, command: Command) => {
      const settings = readSettings(command, shape);
      const { marginSeconds, maxCallbackGas, maxOpenClaims } = settings;
      const minFee = parseAmountOrZero(settings.minFee, "--min-fee");
      const policy = { minFee, marginSeconds, maxCallbackGas, maxOpenClaims };
      const publisher = settings.publishPort === undefined ? undefined : new TracePublisher();
      await play(settings, async (playing) => {
        if (settings.publishPort !== undefined)
          playing.log.info({ port: await publisher?.listen(settings.publishPort) }, "publishes its traces");
        await runWorker({ ...playing, policy, selfAuditSamples: settings.selfAudit, publisher });
        await publisher?.close();
      });
    });
}
