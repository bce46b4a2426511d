import { CalibratedPrograms } from "../runs/native/calibratedPrograms.ts";
import type { Logger } from "../base/log.ts";
import { UsageError } from "./errors.ts";
import type { ProgramLibrary } from "../runs/programLibrary.ts";
import { share, webUrl, unfit, type Parse } from "./parse.ts";
import { defaulted, flagName, optional, type SettingValues } from "./settings.ts";

/** By default, the share of native answers also executed exactly: one in twenty. */
const EXACT_SHARE = 0.05;

const factor: Parse<number> = (text, name) => {
  const number = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  if (number >= 1) return number;
  throw unfit(text, name, "a number from 1 on");
};

/** The settings for native execution shared by a worker and a watcher. */
export const nativeSettings = {
  exactShare: defaulted("part", "part of native answers that are executed exactly too, at random", share, EXACT_SHARE),
  nativeUrl: optional<string>("url", "a native runtime of your own over HTTP, instead of onnxruntime", webUrl, "none"),
  marginFactor: optional<number>(
    "n",
    "how many times the calibrated error a native decision's margin must exceed",
    factor,
    "the calibration's",
  ),
};

/**
 * Checks that settings for native execution are given only with native execution.
 * @param needed The setting that turns native execution on.
 * @throws UsageError that names a setting without effect
 */
export function requireNative(settings: Readonly<Record<string, unknown>>, needed: string, isNative: boolean): void {
  const [idle] = isNative ? [] : Object.keys(settings).filter((name) => settings[name] !== undefined);
  if (idle !== undefined) throw new UsageError(`${flagName(idle)} also needs ${needed}`);
}

/**
 * The programs that calibrations are of.
 * @param paths Files of calibrations.
 * @throws CalibrationError if one cannot be used
 */
export const openCalibrated = (
  paths: readonly string[],
  { nativeUrl, marginFactor }: SettingValues<typeof nativeSettings>,
  library: ProgramLibrary,
  log: Logger,
): CalibratedPrograms => new CalibratedPrograms({ paths, url: nativeUrl, factor: marginFactor }, library, log);
