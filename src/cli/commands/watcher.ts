import { Command } from "commander";
import { runWatcher } from "../../../watcher/watcher.ts";
import { httpTensors } from "../../trace/published.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { oneOf, webUrl } from "../parse.ts";
import { play, playerSettings } from "../playing.ts";
import { addSettings, defaulted, optional, readSettings } from "../settings.ts";

const settings = {
  ...playerSettings,
  mode: defaulted<"watch" | "defend">(
    "mode",
    "watch (report only) or defend (refute what is wrong)",
    oneOf("watch", "defend"),
    "watch",
  ),
  traces: optional<string>("url", "where workers publish their traces: <url>/<claim>/<item>/<step>", webUrl, "none"),
};

/** `refute watcher`: re-execute claims and, in defence, refute the wrong ones. */
export function watcherCommand(output: Output): Command {
  const command = new Command("watcher")
    .description("re-execute every claim on known models; report wrong ones (watch) or also refute them (defend)")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const tensors = values.traces === undefined ? undefined : httpTensors(values.traces.replace(/\/+$/, ""));
      await play(values, output, (playing) => runWatcher({ ...playing, mode: values.mode, tensors }));
    });
  return addExamples(addSettings(command, settings), "watcher --models models.json --mode defend");
}
