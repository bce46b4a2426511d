import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { endFactors } from "../../../src/numerics/kernels/elementary/certified.ts";
import { SATURATION } from "../../../src/numerics/kernels/elementary/errorFunction.ts";
import { estimateOf, farEstimateOf } from "../../../src/numerics/kernels/elementary/estimates.ts";
import type { OpName } from "../../../src/program/operations.ts";
import { BUILDS, NODE_OPTIONS, type BuildName, type ChunkReport, type Measured } from "./chunks.ts";
import type { Built } from "./build.ts";
import type { KernelOrder } from "./kernel.ts";

/**
 * How far the definition's numbers and the C library's may be apart: its functions of long double err by a few 2^-64,
 * the definition by less than 2^-107.
 */
const MAX_DIFFERENCE = 2 ** -58;

/** A result unlike the definition's result, or a judge in disagreement with itself. */
export class WrongResultError extends Error {}

/** Returns a process's JSON lines, once the process has ended well. */
async function linesOf<Line>(child: ChildProcess, what: string): Promise<Line[]> {
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status, signal) =>
      status === 0 ? resolve() : reject(new Error(`${what} ended with ${signal ?? status}`)),
    );
  });
  // The process may end badly while its lines are still read.
  ended.catch(() => undefined);
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout! })) lines.push(JSON.parse(line) as Line);
  await ended;
  return lines;
}

type JudgeLine = {
  chunk: number;
  wrong: number;
  firstWrong: number;
  difference: string;
  builds: readonly { error: string; at: number; doubts: number }[];
};
type KernelLine = { chunk: number; hash: string };

const hex = (word: number): string => `0x${word.toString(16).padStart(8, "0")}`;

/**
 * Runs a function's chunks in both builds, and judges the results.
 * @throws WrongResultError
 */
export async function runGroup(
  judge: Built,
  name: OpName,
  stride: number,
  chunks: readonly number[],
): Promise<ChunkReport[]> {
  const tag = `${name}-${chunks[0]}`;
  const fifos = BUILDS.map((build) => join(judge.folder, `${tag}-${build}`));
  for (const fifo of fifos) spawnSync("mkfifo", [fifo]);
  const children: ChildProcess[] = [];
  const start = (program: string, args: readonly string[]): ChildProcess => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    killAtExit(child);
    children.push(child);
    return child;
  };
  const kernels = BUILDS.map((build, n) => {
    const order: KernelOrder = { name, build, stride, chunks, fifo: fifos[n]! };
    const path = join(import.meta.dirname, "kernel.ts");
    const args = [...NODE_OPTIONS[build], "--no-warnings", path, JSON.stringify(order)];
    return linesOf<KernelLine>(start(process.execPath, args), `the kernel of ${name}, ${build},`);
  });
  const factors = endFactors(estimateOf(name).bound).map(String);
  const far = farEstimateOf(name) === undefined ? "0" : "1";
  const saturation = name === "erf" ? String(SATURATION) : "0";
  const args = [name, String(stride), far, ...factors, saturation, ...fifos, ...chunks.map(String)];
  const judged = linesOf<JudgeLine>(start(judge.program, args), `the judge of ${name}`);
  try {
    const [lines, ...hashes] = await Promise.all([judged, ...kernels]);
    return lines.map((line, k) =>
      report(
        name,
        line,
        hashes.map((of) => of[k]!),
      ),
    );
  } finally {
    for (const child of children) child.kill();
  }
}

/** @throws WrongResultError */
function report(name: OpName, line: JudgeLine, hashes: readonly KernelLine[]): ChunkReport {
  const { chunk, wrong, firstWrong, difference } = line;
  if (wrong > 0)
    throw new WrongResultError(`${name}: ${wrong} results are not the definition's, the first at ${hex(firstWrong)}`);
  if (!(Number(difference) <= MAX_DIFFERENCE))
    throw new WrongResultError(`${name}: the definition and the C library are ${difference} apart in chunk ${chunk}`);
  const [first, ...others] = hashes;
  if (others.some(({ hash }) => hash !== first!.hash))
    throw new WrongResultError(`${name}: the builds have other results in chunk ${chunk}`);
  const measured = line.builds.map(({ error, at, doubts }): Measured => ({ error: Number(error), at, doubts }));
  const builds = Object.fromEntries(BUILDS.map((build, n) => [build, measured[n]!])) as Record<BuildName, Measured>;
  return { chunk, hash: first!.hash, builds };
}
