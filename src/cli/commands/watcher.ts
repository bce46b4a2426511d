import { Command } from "commander";
import { z } from "zod";
import { FastExecutors } from "../../chain/game/fastExecute.ts";
import { runWatcher } from "../../../watcher/watcher.ts";
import { addChainOptions, chainShape, sessionFrom } from "../chainSettings.ts";
import { createLogger } from "../log.ts";
import { loadProgram, readModels } from "../models.ts";
import { readSettings } from "../settings.ts";
import { stopSignal } from "../stop.ts";

const shape = {
  ...chainShape,
  models: z.string(),
  mode: z.enum(["watch", "defend"]).default("watch"),
  interval: z.coerce.number().positive().default(4),
};

/** `refute watcher`: re-execute claims and, in defence, refute the wrong ones. */
export function watcherCommand(): Command {
  return addChainOptions(new Command("watcher"))
    .description("re-execute every claim on known models; report wrong ones (watch) or also refute them (defend)")
    .option("--models <file>", "JSON array of {path, shapes, uint8}: the models to judge (or REFUTE_MODELS)")
    .option("--mode <mode>", "watch (report only, the default) or defend (or REFUTE_MODE)")
    .option("--interval <seconds>", "pause between rounds (or REFUTE_INTERVAL)")
    .action(async (_options: unknown, command: Command) => {
      const settings = readSettings(command, shape);
      const log = createLogger(settings.logLevel);
      const programs = readModels(settings.models).map(loadProgram);
      const session = await sessionFrom(settings);
      const executors = new FastExecutors();
      const signal = stopSignal(() => log.info("stopping after this round; once more to stop at once"));
      await runWatcher({
        session,
        programs,
        execute: executors.execute,
        mode: settings.mode,
        signal,
        intervalMs: settings.interval * 1_000,
        log,
      });
      await executors.close();
    });
}
