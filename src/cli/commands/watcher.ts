import { Command } from "commander";
import type { Address } from "viem";
import { runWatcher } from "../../../watcher/watcher.ts";
import { openExamClaims } from "../../provisioning/exams/openExamClaims.ts";
import { httpTensors } from "../../trace/published.ts";
import { UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { nativeSettings, openCalibrated } from "../nativeSettings.ts";
import { address, list, oneOf, share, webUrl } from "../parse.ts";
import { referenceSettings, referencesOf } from "../references.ts";
import { play, playerSettings } from "../playing.ts";
import { addSettings, defaulted, optional, readSettings } from "../settings.ts";

const settings = {
  ...playerSettings,
  ...referenceSettings,
  mode: defaulted<"watch" | "defend">(
    "mode",
    "watch (report only) or defend (refute what is wrong)",
    oneOf("watch", "defend"),
    "watch",
  ),
  traces: optional<string>("url", "where workers publish their traces: <url>/<claim>/<item>/<step>", webUrl, "none"),
  check: defaulted<"exact" | "native">(
    "check",
    "how answers are judged: exact, or native where that is safe",
    oneOf("exact", "native"),
    "exact",
  ),
  calibration: optional<string[]>("files", "calibrations for --check native, comma-separated", list, "none"),
  ...nativeSettings,
  examClaims: optional<Address>(
    "address",
    "audit exams whose wrong roots become claims there; --market is that of the claims",
    address,
    "none",
  ),
  examShare: defaulted("share", "of the exams that are executed, above 0 to 1", share, 1),
};

/** `refute watcher`: re-execute claims and, in defence, refute the wrong ones. */
export function watcherCommand(output: Output): Command {
  const command = new Command("watcher")
    .description("re-execute every claim on known models; report wrong ones (watch) or also refute them (defend)")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const tensors = values.traces === undefined ? undefined : httpTensors(values.traces.replace(/\/+$/, ""));
      const { mode, check, calibration, exactShare } = values;
      if ((check === "native") !== (calibration !== undefined))
        throw new UsageError("--check native and --calibration go together: give both, or neither");
      await play(values, output, async (playing) => {
        const programs = calibration && openCalibrated(calibration, values, playing.programs, playing.log);
        const court = values.examClaims && (await openExamClaims(playing.session, values.examClaims));
        const exams = court && { court, share: values.examShare };
        const references = referencesOf(values);
        await runWatcher({
          ...playing,
          references,
          mode,
          tensors,
          native: programs && { programs, exactShare },
          exams,
        });
        await programs?.close();
      });
    });
  return addExamples(
    addSettings(command, settings),
    "watcher --models models.json --mode defend",
    "watcher --models zoo.json --mode defend --exam-claims 0x... --exam-share 0.1",
    "watcher --models models.json --mode defend --check native --calibration model.calibration.json",
  );
}
