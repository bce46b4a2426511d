import { chunksOf, levelBytes } from "../../program/merkle/levels.ts";
import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { Program } from "../../program/types.ts";
import type { Kernel } from "./kernel.ts";
import { kernelOf } from "./kernel.ts";
import type { GpuMemory } from "./memory.ts";

/** Copies words. Parameters: the first words of source and target, the number of words. */
const COPY = /* wgsl */ `
fn work(i: u32) { if (i < P[0].z) { poke(P[0].y + i, peek(P[0].x + i)); } }`;

/** Copies hashes side by side. Parameters: their number, the target's first word; each hash's first word. */
const GATHER = /* wgsl */ `
fn work(i: u32) {
  let k = i / 8u + 2u; if (i >= 8u * P[0].x) { return; }
  poke(P[0].y + i, peek(P[k / 4u][k % 4u] + i % 8u));
}`;

const OPERATIONS = 20;

function copy(from: number, to: number, bytes: number): Kernel {
  const words = Math.ceil(bytes / 4);
  return kernelOf(COPY, [from / 4, to / 4, words], words, OPERATIONS);
}

/** A carried input: its number, and the checkpoint from which the input is carried. */
type CarriedInput = { input: number; checkpoint: number };

/** The inputs that an item takes from the item before. */
export const carriedInputs = ({ inputs }: Program): CarriedInput[] =>
  inputs.flatMap(({ source }, input) => (source?.kind === "carried" ? [{ input, checkpoint: source.checkpoint }] : []));

/**
 * The kernels between two items of a run whose state stays on the GPU.
 * @returns for each carried input a copy from what the item before computed (`pass`) and from what the GPU keeps of the
 *   last execution (`keep`), and a kernel that puts the roots of all checkpoints side by side; undefined if the GPU's
 *   memory keeps no state
 */
export function chainKernels(
  program: Program,
  { history, inputs, tensors, nodes }: GpuMemory,
): { pass: Kernel[]; keep: Kernel[]; roots: Kernel } | undefined {
  if (history === undefined) return undefined;
  const { checkpoints, steps } = program;
  const carried = carriedInputs(program);
  const copies = (addressOf: (checkpoint: number) => number): Kernel[] =>
    carried.map(({ input, checkpoint }) =>
      copy(addressOf(checkpoint), inputs[input]!.address, bytesOf(program.inputs[input]!)),
    );
  const roots = checkpoints.map(({ step }, j) => {
    // The root is the last node.
    const end = nodes[j]!.address + levelBytes(chunksOf(bytesOf(steps[step]!)));
    return (end - HASH_BYTES) / 4;
  });
  return {
    pass: copies((checkpoint) => tensors[checkpoints[checkpoint]!.step]!.address),
    keep: copies((checkpoint) => history.tensors[checkpoint]!.address),
    roots: kernelOf(GATHER, [roots.length, history.roots.address / 4, ...roots], 8 * roots.length, OPERATIONS),
  };
}
