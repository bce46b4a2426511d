import { Command } from "commander";
import { z } from "zod";
import { runWatcher } from "../../../watcher/watcher.ts";
import { httpTensors } from "../../trace/published.ts";
import { addChainOptions } from "../chainSettings.ts";
import { play, playerShape } from "../playing.ts";
import { readSettings } from "../settings.ts";

const shape = {
  ...playerShape,
  mode: z.enum(["watch", "defend"]).default("watch"),
  traces: z.string().url().optional(),
};

/** `refute watcher`: re-execute claims and, in defence, refute the wrong ones. */
export function watcherCommand(): Command {
  return addChainOptions(new Command("watcher"))
    .description("re-execute every claim on known models; report wrong ones (watch) or also refute them (defend)")
    .option("--models <file>", "JSON array of {path, shapes, uint8}: the models to judge (or REFUTE_MODELS)")
    .option("--mode <mode>", "watch (report only, the default) or defend (or REFUTE_MODE)")
    .option("--traces <url>", "where workers publish their traces: <url>/<claim>/<step> (or REFUTE_TRACES)")
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
      const tensors = settings.traces === undefined ? undefined : httpTensors(settings.traces.replace(/\/+$/, ""));
      await play(settings, (playing) => runWatcher({ ...playing, mode: settings.mode, tensors }));
    });
}
