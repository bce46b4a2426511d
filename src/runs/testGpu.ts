import { CannotRunHereError } from "../base/platform.ts";
import { DeviceDifferenceError } from "../executor/errors.ts";
import type { Gpu } from "../executor/gpu/device.ts";
import { exhaustFunction, FUNCTIONS } from "../executor/gpu/exhaust.ts";
import { measureRates } from "../executor/gpu/rates.ts";
import { selfTestGpu } from "../executor/gpu/selfTest.ts";
import type { OpName } from "../program/operations.ts";
import { failureOf, type FunctionFinding, type GpuReport, type GpuReports } from "./gpuReports.ts";

type TestOptions = {
  selfTest: boolean;
  measure: boolean;
  exhaust: boolean;
  /** By default all, the most doubtful first. */
  functions?: readonly OpName[] | undefined;
  /** One of the strides with known hashes. */
  stride: number;
  /** How long exhausting may take; by default as long as it does. */
  milliseconds?: number | undefined;
  /** The most memory to fill. */
  fillBytes: number;
  /** Called with what is found, in words. */
  onFinding: (finding: string) => void;
};

/**
 * Tests a GPU and keeps what is found, after each part: a stopped run goes on.
 * @returns The report, with what was found before
 * @throws ExecutionDeviceError; CannotRunHereError if the kept report is none
 */
export async function testGpu(gpu: Gpu, reports: GpuReports, options: TestOptions): Promise<GpuReport> {
  const { onFinding } = options;
  const report = reports.read(gpu.facts);
  if (options.selfTest) {
    const finding = await selfTestFinding(gpu);
    // A failure stays.
    if (report.selfTest?.passed !== false) report.selfTest = { passed: finding === "", finding };
    await reports.write(report);
    onFinding(finding === "" ? "the self test passed" : finding);
  }
  if (options.measure) {
    report.rates = await measureRates(gpu, { fillBytes: options.fillBytes });
    await reports.write(report);
  }
  if (options.exhaust && failureOf(report) === undefined) await exhaustAll(gpu, reports, report, options);
  return report;
}

/** @returns What differs; empty if nothing does */
async function selfTestFinding(gpu: Gpu): Promise<string> {
  try {
    await selfTestGpu(gpu);
    return "";
  } catch (error) {
    // Checks of drawn elements may find a fault before the comparison with the definition does.
    if (!(error instanceof CannotRunHereError || error instanceof DeviceDifferenceError)) throw error;
    return error.message;
  }
}

async function exhaustAll(
  gpu: Gpu,
  reports: GpuReports,
  report: GpuReport,
  { functions = FUNCTIONS, stride, milliseconds = Infinity, onFinding }: TestOptions,
): Promise<void> {
  const end = performance.now() + milliseconds;
  for (const name of functions) {
    if (performance.now() >= end) return;
    const finding = findingOf(report, name, stride);
    if (finding.isRight !== undefined) continue;
    const isRight = await exhaustFunction(gpu, name, {
      ...{ stride, chunks: finding.chunks },
      onChunk: async (hash) => {
        finding.chunks.push(hash);
        await reports.write(report);
        return performance.now() >= end;
      },
    });
    if (isRight === undefined) return;
    finding.isRight = isRight;
    await reports.write(report);
    onFinding(`${name}, ${2 ** 32 / stride} inputs: ${isRight ? "as the definition" : "OTHER BITS"}`);
  }
}

/** The report's entry for a function, or a new entry. */
function findingOf({ functions }: GpuReport, name: string, stride: number): FunctionFinding {
  const known = functions.find((each) => each.name === name && each.stride === stride);
  if (known !== undefined) return known;
  const finding: FunctionFinding = { name, stride, chunks: [] };
  functions.push(finding);
  return finding;
}
