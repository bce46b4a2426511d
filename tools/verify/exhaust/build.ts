import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A program made by gcc, in a separate folder with room for fifos. */
export type Built = { program: string; folder: string; remove: () => void };

/**
 * Compiles definition.c and a program in this folder; returns the reason instead if gcc or libmpfr's headers (which
 * bring GMP's) are missing.
 */
export function buildC(name: "judge" | "words" | "powers"): Built | { missing: string } {
  const folder = mkdtempSync(join(tmpdir(), "refute-exhaust-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const program = join(folder, name);
  const sources = [`${name}.c`, "definition.c"].map((file) => join(import.meta.dirname, file));
  // Without contraction: the ends of a certificate are rounded like in WebAssembly.
  const flags = ["-O3", "-march=native", "-ffp-contract=off", "-Wall", "-Werror"];
  const build = spawnSync("gcc", [...flags, ...sources, "-o", program, "-lgmp", "-lm"], { encoding: "utf8" });
  if (build.error === undefined && build.status === 0) return { program, folder, remove };
  remove();
  const reason = build.error?.message ?? build.stderr.split("\n").find((line) => line.includes("error"));
  return { missing: `cannot compile ${name}.c: install gcc and libmpfr-dev (${reason ?? "gcc failed"})` };
}
