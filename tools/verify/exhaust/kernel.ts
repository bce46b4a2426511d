/**
 * A process of `npm run verify -- exhaust`: runs the executor's loop for an elementary function, and the function's
 * estimates, over chunks of all float32. Both results go to a fifo, in judge.c's input form. For each chunk, a JSON
 * line on stdout gives the hash.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { compileLoops } from "../../../src/executor/loops/compile.ts";
import { estimateOf, farEstimateOf } from "../../../src/numerics/kernels/elementary/estimates.ts";
import { kernelMemory } from "../../../src/numerics/kernels/memory.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { Op, type OpName } from "../../../src/program/operations.ts";
import { CHUNK, writeInputs } from "../../../src/executor/gpu/allInputs.ts";
import type { BuildName } from "./chunks.ts";
import { estimateLoops, isFused } from "./estimateLoop.ts";

/** The order given to the process. */
export type KernelOrder = { name: OpName; build: BuildName; stride: number; chunks: readonly number[]; fifo: string };

/** judge.c has the same. */
const MAX_BLOCK = 2 ** 16;
const memory = kernelMemory(32);
const RESULTS = 4 * MAX_BLOCK;
const ESTIMATES = 8 * MAX_BLOCK;

const { name, build, stride, chunks, fifo } = JSON.parse(process.argv[2]!) as KernelOrder;
const out = openSync(fifo, "w");
if (isFused(memory) !== (build === "fused"))
  throw new Error(`this machine has no build "${build}": Node ${build === "fused" ? "does not fuse" : "fuses"} here`);

const perChunk = CHUNK / stride;
const block = Math.min(perChunk, MAX_BLOCK);
const axes = [{ extent: block, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }];
const [loop] = compileLoops([
  {
    digits: [{ digit: 0, radix: block }],
    reads: [{ input: 0, fill: 0n, axes }],
    sourceTypes: [DType.float32],
    constants: [],
    code: [{ op: Op[name], dtype: DType.float32, a: 0, b: 0, c: 0 }],
    outs: [1],
  },
]).on(memory);
const estimates = [estimateOf(name), farEstimateOf(name)].flatMap((bounded) => bounded?.estimate ?? []);
const loops = estimateLoops(name, estimates, memory);

const inputs = new Uint32Array(memory.buffer, 0, block);
const written = new Uint8Array(memory.buffer, RESULTS, 4 * block);
const bytes = Buffer.alloc((4 + 8 * estimates.length) * block);

for (const chunk of chunks) {
  const hash = createHash("sha256");
  for (let first = 0; first < perChunk; first += block) {
    writeInputs(inputs, chunk, first, stride);
    loop!([0], [RESULTS], 0, block);
    bytes.set(written);
    hash.update(bytes.subarray(0, 4 * block));
    loops.forEach((run, n) => {
      run(0, ESTIMATES, 4 * block);
      bytes.set(new Uint8Array(memory.buffer, ESTIMATES, 8 * block), (4 + 8 * n) * block);
    });
    for (let at = 0; at < bytes.length;) at += writeSync(out, bytes, at);
  }
  console.log(JSON.stringify({ chunk, hash: hash.digest("hex") }));
}
closeSync(out);
