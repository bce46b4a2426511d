import { existsSync } from "node:fs";
import { Command } from "commander";
import type { Address } from "viem";
import { runWatcher } from "../../../watcher/watcher.ts";
import { openExamClaims } from "../../attestation/exams/openExamClaims.ts";
import { PayerInputs } from "../../parties/tickets/payerInputs.ts";
import { httpOutputs, httpSnapshots, httpTensors } from "../../program/trace/published.ts";
import { UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { nativeSettings, openCalibrated, requireNative } from "../nativeSettings.ts";
import { address, oneOf, filePath, filePaths, share, webUrl } from "../parse.ts";
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
  calibration: optional<string[]>("files", "calibrations for --check native, comma-separated", filePaths, "none"),
  ...nativeSettings,
  ledger: optional<string>(
    "file",
    "of a payer (refute tickets ask): inputs of claims come from it that are not on the chain; --market is that of " +
      "the claims",
    filePath,
    "none",
  ),
  examClaims: optional<Address>(
    "address",
    "audit exams whose wrong roots become claims there; --market is that of the claims",
    address,
    "none",
  ),
  examShare: defaulted("share", "of the exams that are executed, above 0 to 1", share, 1),
};

/** @throws UsageError if the named ledger does not exist, or if --references is given too */
function requireLedger(ledger: string | undefined, references: boolean): void {
  if (ledger === undefined) return;
  if (references)
    throw new UsageError("--ledger and --references exclude each other: claims of tickets name no places");
  if (!existsSync(ledger)) throw new UsageError(`--ledger ${ledger}: no such file; refute tickets ask makes it`);
}

const publishedAt = (url: string) => ({
  tensors: httpTensors(url),
  outputs: httpOutputs(url),
  snapshots: httpSnapshots(url),
});

/** `refute watcher`: re-execute claims and, in defence, refute the wrong ones. */
export function watcherCommand(output: Output): Command {
  const command = new Command("watcher")
    .description("re-execute every claim on known models; report wrong ones (watch) or also refute them (defend)")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const traces = values.traces?.replace(/\/+$/, "");
      const published = traces === undefined ? {} : publishedAt(traces);
      const { mode, check, calibration, exactShare } = values;
      if ((check === "native") !== (calibration !== undefined))
        throw new UsageError("--check native and --calibration go together: give both, or neither");
      const { nativeUrl, marginFactor } = values;
      requireNative({ nativeUrl, marginFactor }, "--check native", check === "native");
      requireLedger(values.ledger, values.references);
      await play("watcher", values, output, async (playing, atStart) => {
        const programs = calibration && openCalibrated(calibration, values, playing.programs, playing.log);
        const { examClaims } = values;
        const claimContracts = examClaims && (await atStart(() => openExamClaims(playing.session, examClaims)));
        const exams = claimContracts && { claimContracts, share: values.examShare };
        const references = referencesOf(values);
        const heldInputs = values.ledger === undefined ? undefined : new PayerInputs(values.ledger, playing.log);
        await runWatcher({
          ...playing,
          references,
          ...(heldInputs && { heldInputs }),
          mode,
          ...published,
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
