import type { Hash } from "../../program/merkle/hash.ts";
import { readCalibration, requireCalibrated, type Calibration } from "../../native/calibration.ts";
import { CalibrationError } from "../../native/errors.ts";
import type { NativeProgram } from "../../native/nativeAnswer.ts";
import { onnxruntimeName } from "../../native/onnxruntimeNative.ts";
import { readModel } from "../../model/onnx/readModel.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { Logger } from "../../base/log.ts";
import type { ProgramLibrary } from "../programLibrary.ts";
import { sha256OfFile } from "../programs/cacheKey.ts";
import { prepareModel } from "../../compiler/wraps/modelSpec.ts";
import type { NativePrograms } from "./nativeJobs.ts";
import { nativeSubject } from "./nativeSubject.ts";

/** Where calibrations lie, and with what they are used. */
type CalibratedOptions = {
  /** Files that `refute model calibrate` wrote. */
  paths: readonly string[];
  /** A runtime over HTTP; onnxruntime in this process if absent. */
  url?: string | undefined;
  /** How many times the calibrated error a margin must exceed; as each calibration says if absent. */
  factor?: number | undefined;
};

type Opened = NativeProgram & KnownProgram;

/** The programs with calibrations. A program is opened at its first use. */
export class CalibratedPrograms implements NativePrograms {
  readonly #calibrations = new Map<Hash, { path: string; calibration: Calibration }>();
  readonly #opened = new Map<Hash, Promise<Opened | undefined>>();
  readonly #options: CalibratedOptions;
  readonly #library: ProgramLibrary;
  readonly #log: Logger;

  /**
   * Reads all calibrations.
   * @throws CalibrationError if a calibration is unusable: damaged, for another runtime, or the second for a program
   */
  constructor(options: CalibratedOptions, library: ProgramLibrary, log: Logger) {
    [this.#options, this.#library, this.#log] = [options, library, log];
    for (const path of options.paths) {
      const calibration = readCalibration(path);
      const root = calibration.programRoot as Hash;
      const other = this.#calibrations.get(root);
      if (other !== undefined)
        throw new CalibrationError(`the calibrations ${other.path} and ${path} are of one program: give one of them`);
      this.#requireRuntime(path, calibration);
      this.#calibrations.set(root, { path, calibration });
    }
  }

  /** How many programs there are calibrations of. */
  get size(): number {
    return this.#calibrations.size;
  }

  of = (root: Hash): Promise<Opened | undefined> => {
    const known = this.#calibrations.get(root);
    if (known === undefined || !this.#library.knows(root)) return Promise.resolve(undefined);
    let opened = this.#opened.get(root);
    if (opened === undefined) {
      opened = this.#open(root, known.path, known.calibration).catch((error: unknown) => {
        // Whatever cannot be opened is executed exactly: that is said once.
        const { code = "UNEXPECTED", message: reason } = error as Error & { code?: string };
        this.#log.error({ code, reason, programRoot: root }, "a program is executed exactly: no native execution");
        return undefined;
      });
      this.#opened.set(root, opened);
    }
    return opened;
  };

  async close(): Promise<void> {
    for (const opened of this.#opened.values()) await (await opened.catch(() => undefined))?.runtime.close();
  }

  #requireRuntime(path: string, { runtime, threads }: Calibration): void {
    const wanted = this.#options.url === undefined ? onnxruntimeName(threads ?? 1) : undefined;
    if (wanted !== undefined && wanted !== runtime)
      throw new CalibrationError(
        `the calibration ${path} is of another runtime: ${runtime}, not ${wanted}; ` +
          "make it again by refute model calibrate",
      );
  }

  async #open(root: Hash, path: string, calibration: Calibration): Promise<Opened | undefined> {
    const spec = this.#library.specOf(root);
    const known = await this.#library.load(root);
    if (known === undefined || spec === undefined)
      throw new CalibrationError(`the calibration ${path} is of a program whose model file is not on this machine`);
    const sha256 = await sha256OfFile(spec.path);
    if (sha256 !== calibration.modelSha256)
      throw new CalibrationError(`the calibration ${path} is of another file than ${spec.path}: calibrate it`);
    const own = readModel(spec.path, { mib: spec.limits?.mib });
    const { outputs, deciding, inputs, openNative } = nativeSubject(spec, own, prepareModel(own, spec), known.model);
    requireCalibrated(calibration, path, { programRoot: known.model.programRoot, inputs, deciding });
    const { url, factor = calibration.factor } = this.#options;
    const place = url === undefined ? { threads: calibration.threads ?? 1 } : { url, name: calibration.runtime };
    const runtime = await openNative(calibration.tensors, place);
    this.#log.info({ programRoot: root, runtime: calibration.runtime, factor }, "a program is executed natively");
    return { ...known, runtime, calibration, outputs, factor };
  }
}
