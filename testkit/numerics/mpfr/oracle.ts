/**
 * MPFR as an independent judge for results in float32, in subsets of float32, and in float64. Compiles oracle.c with
 * gcc against Debian's libmpfr.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Word } from "../../../src/numerics/dtype.ts";
import { FLOAT32, FLOAT64, type FloatFormat } from "../../../src/numerics/format.ts";

export type MpfrOracle = {
  /**
   * Returns the correctly rounded results for pairs of float32 words under operation `op` (code of
   * src/program/operations.ts). Operands and results are float32 words, or float64 words if the format is float64.
   * @param format The format for rounding: float32, a subset of float32, or float64.
   */
  evaluate: (op: number, operands: readonly (readonly [Word, Word])[], format?: FloatFormat) => Word[];
  close: () => void;
};

const SOURCE = join(import.meta.dirname, "oracle.c");

/** Builds the oracle; returns the reason instead where gcc or libmpfr's headers are missing. */
export function buildMpfrOracle(): MpfrOracle | { missing: string } {
  const folder = mkdtempSync(join(tmpdir(), "refute-mpfr-"));
  const program = join(folder, "oracle");
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  const build = spawnSync("gcc", ["-O2", SOURCE, "-o", program, "-lmpfr", "-lgmp"], { encoding: "utf8" });
  if (build.error !== undefined || build.status !== 0) {
    close();
    const reason =
      build.error === undefined ? build.stderr.split("\n").find((line) => line.includes("error")) : build.error.message;
    return { missing: `no MPFR check: install gcc and libmpfr-dev (${reason ?? "gcc failed"})` };
  }
  return { evaluate: (op, operands, format = FLOAT32) => run(program, op, operands, format), close };
}

function run(program: string, op: number, operands: readonly (readonly [Word, Word])[], format: FloatFormat): Word[] {
  const { fractionBits, lowestExponent, highestExponent } = format;
  const rounding = [fractionBits + 1, lowestExponent + 1, highestExponent + 1, format === FLOAT64 ? 1 : 0].map(String);
  const input = Buffer.alloc(operands.length * 24);
  operands.forEach(([a, b], i) => {
    input.writeBigUInt64LE(BigInt(op), i * 24);
    input.writeBigUInt64LE(a, i * 24 + 8);
    input.writeBigUInt64LE(b, i * 24 + 16);
  });
  const { status, stdout } = spawnSync(program, rounding, { input, maxBuffer: operands.length * 8 + 4096 });
  if (status !== 0 || stdout.length !== operands.length * 8)
    throw new Error(`the MPFR oracle answered ${stdout.length / 8} of ${operands.length}`);
  return operands.map((_, i) => stdout.readBigUInt64LE(i * 8));
}
