import { cpus, platform, release, totalmem } from "node:os";
import type { Hex } from "viem";
import type { KnownProgram } from "../player/execution.ts";
import type { Execute } from "../player/executeRun.ts";
import { fromHash, sha256 } from "../merkle/hash.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { Trace } from "../trace/trace.ts";
import type { ReportContent } from "./register.ts";

/** What this machine is, for an identification report. */
export function identify(): ReportContent {
  const processors = cpus();
  return {
    accelerator: processors[0]?.model.trim() ?? "unknown",
    count: processors.length,
    driver: `${platform()} ${release()}`,
    firmware: process.version,
    memoryMiB: Math.floor(totalmem() / 2 ** 20),
  };
}

/**
 * A benchmark for a provisioning report: a program that jobs name too, on an input that the chain's nonce fixes, so
 * that it can neither be distinguished from a job nor computed beforehand.
 */
export async function benchmark(execute: Execute, { model }: KnownProgram, nonce: Hex): Promise<ReportContent> {
  const inputs = model.program.inputs.map(({ dtype, count }, k) => noise(nonce, k, count * dtypeBytes(dtype)));
  const start = performance.now();
  const { root } = new Trace(model.program, await execute(model, inputs));
  const milliseconds = Math.round(performance.now() - start);
  return { program: model.programRoot, nonce, runRoot: root, milliseconds };
}

/** Bytes that a nonce fixes: SHA-256 in counter mode. */
function noise(nonce: Hex, input: number, length: number): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let k = 0; k * 32 < length; k++) {
    const counter = Buffer.alloc(8);
    counter.writeUInt32BE(input, 0);
    counter.writeUInt32BE(k, 4);
    blocks.push(sha256(fromHash(nonce), counter));
  }
  return new Uint8Array(Buffer.concat(blocks).subarray(0, length));
}
