import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withVersion } from "../base/optionalPackage.ts";
import { CannotRunHereError } from "../base/platform.ts";
import { writeWhole } from "../base/writeWhole.ts";
import type { GpuFacts } from "../executor/gpu/device.ts";
import type { GpuRates } from "../executor/gpu/rates.ts";

/** The finding on a function of a single float32. */
export type FunctionFinding = {
  name: string;
  /** One input of so many was tried. */
  stride: number;
  /** The hashes of the chunks that are done, in order. */
  chunks: string[];
  /** Whether all results are the definition's; absent before the end. */
  isRight?: boolean;
};

/** The findings on a GPU with a driver, by versions of Refute and of the package `webgpu`. */
export type GpuReport = {
  name: string;
  driver: string;
  isSoftware: boolean;
  versions: string;
  selfTest?: { passed: boolean; finding: string };
  functions: FunctionFinding[];
  rates?: GpuRates;
};

/** Reports on GPUs in a folder: a file by adapter, driver and versions. */
export class GpuReports {
  readonly #folder: string;
  readonly #versions: string;

  /** @param version Of Refute, whose kernels are tested. */
  constructor(folder: string, version: string) {
    this.#folder = folder;
    this.#versions = `refute-ml@${version} ${withVersion("webgpu")}`;
  }

  /** The file of a GPU's report. */
  fileOf({ name, driver }: Pick<GpuFacts, "name" | "driver">): string {
    const key = createHash("sha256")
      .update(JSON.stringify([name, driver, this.#versions]))
      .digest("hex");
    return join(this.#folder, `${key.slice(0, 16)}.json`);
  }

  /** @returns the kept report, or an empty one @throws CannotRunHereError */
  read(facts: Pick<GpuFacts, "name" | "driver" | "isSoftware">): GpuReport {
    const file = this.fileOf(facts);
    const { name, driver, isSoftware } = facts;
    if (!existsSync(file)) return { name, driver, isSoftware, versions: this.#versions, functions: [] };
    try {
      const report = JSON.parse(readFileSync(file, "utf8")) as GpuReport;
      if (report.name === name && Array.isArray(report.functions)) return report;
    } catch {
      // Said below.
    }
    throw new CannotRunHereError(`${file} is no report of ${name}: remove it, and test the GPU again`);
  }

  write(report: GpuReport): Promise<void> {
    const text = `${JSON.stringify(report, null, 1)}\n`;
    return writeWhole(this.fileOf(report), ".tmp", (path) => writeFile(path, text));
  }

  /**
   * Why a GPU must not compute: a test of it with this driver failed. A test that passes later does not change this:
   * wrong bits that come and go cost a worker its stake.
   * @throws CannotRunHereError
   */
  refusalOf(facts: GpuFacts): string | undefined {
    const finding = failureOf(this.read(facts));
    return finding && `${facts.name}: ${finding}; use another driver, or remove ${this.fileOf(facts)} to test it again`;
  }
}

/** The first failure in a report, in words. */
export function failureOf({ selfTest, functions }: GpuReport): string | undefined {
  if (selfTest?.passed === false) return `a self test failed: ${selfTest.finding}`;
  const wrong = functions.find(({ isRight }) => isRight === false);
  return wrong && `${wrong.name} has other bits than the definition on some input (stride ${wrong.stride})`;
}
