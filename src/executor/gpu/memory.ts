import type { CompiledModel } from "../../program/compiled.ts";
import { chunksOf, levelBytes } from "../../program/merkle/levels.ts";
import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { TensorRef } from "../../program/types.ts";
import { ExecutionMemoryError } from "../errors.ts";
import { MemoryPlan, type Region } from "../memory/memoryPlan.ts";
import { markBytes } from "./hashing.ts";

type ConstantRef = TensorRef & { kind: "constant" };

/** Heights of trees are below this. */
export const HEIGHTS = 32;

/** Where a program's data lie in the GPU's memory, by byte addresses. */
export type GpuMemory = {
  bytes: number;
  inputs: readonly Region[];
  tensors: readonly Region[];
  constants: readonly { ref: ConstantRef; region: Region }[];
  /** By step: a product's memory. */
  own: ReadonlyMap<number, Region>;
  /** For each checkpoint, the tensor's tree, as `Levels` describes. */
  nodes: readonly Region[];
  /** The nodes for missing leaves, of all heights. */
  zeros: Region;
  /** Kept for the next execution; undefined for programs without carried state, or without enough room. */
  history: History | undefined;
  /** The place of what a step reads. */
  of(ref: TensorRef): Region;
};

/**
 * By checkpoint, the previous execution's tensor and the nodes' marks; a word: see `Followed`; the place for the roots
 * of all checkpoints, side by side. With it, carried inputs and the tensors that they take stay until the end.
 */
type History = { tensors: readonly Region[]; marks: readonly Region[]; anew: Region; roots: Region };

/**
 * Plans the GPU's memory: tensors with disjoint lifetimes share bytes. Without enough room, products get no memory; if
 * necessary, the previous execution is not kept either.
 * @param own By step, a product's additional bytes.
 * @param maxBytes The maximum bytes for kernels.
 * @throws ExecutionMemoryError
 */
export function gpuMemory(model: CompiledModel, own: ReadonlyMap<number, number>, maxBytes: number): GpuMemory {
  const carries = model.program.inputs.some(({ source }) => source?.kind === "carried");
  for (const [products, follows] of [
    [own, carries],
    [new Map<number, number>(), carries],
  ] as const) {
    try {
      return planned(model, products, maxBytes, follows);
    } catch (error) {
      if (!(error instanceof ExecutionMemoryError)) throw error;
    }
  }
  return planned(model, new Map(), maxBytes, false);
}

function planned(
  { program }: CompiledModel,
  own: ReadonlyMap<number, number>,
  maxBytes: number,
  follows: boolean,
): GpuMemory {
  const plan = new MemoryPlan();
  const inputs = program.inputs.map((input) =>
    follows && input.source?.kind === "carried" ? plan.permanent(bytesOf(input)) : plan.during(bytesOf(input), -1, -1),
  );
  const constants = new Map<string, { ref: ConstantRef; region: Region }>();
  const tensors: Region[] = [];
  const of = (ref: TensorRef): Region => {
    if (ref.kind === "input") return inputs[ref.index]!;
    if (ref.kind === "step") return tensors[ref.index]!;
    return constants.get(keyOf(ref))!.region;
  };
  program.steps.forEach((step, s) => {
    for (const ref of step.inputs) {
      if (ref.kind === "constant" && !constants.has(keyOf(ref)))
        constants.set(keyOf(ref), { ref, region: plan.permanent(bytesOf(ref)) });
      of(ref).keepUntil(s);
    }
    tensors.push(plan.during(bytesOf(step), s, s));
  });
  const end = program.steps.length;
  if (follows)
    for (const { source } of program.inputs)
      if (source?.kind === "carried") tensors[program.checkpoints[source.checkpoint]!.step]!.keepUntil(end);
  const products = new Map([...own].map(([s, bytes]) => [s, plan.during(bytes, s, s)]));
  const sizes = program.checkpoints.map(({ step }) => bytesOf(program.steps[step]!));
  const nodes = program.checkpoints.map(({ step }, j) => {
    const bytes = levelBytes(chunksOf(sizes[j]!));
    return follows ? plan.permanent(bytes) : plan.during(bytes, step, step);
  });
  const zeros = plan.permanent(HEIGHTS * HASH_BYTES);
  const history = follows
    ? {
        tensors: sizes.map((bytes) => plan.permanent(bytes)),
        marks: sizes.map((bytes) => plan.permanent(markBytes(bytes))),
        anew: plan.permanent(4),
        roots: plan.permanent(HASH_BYTES * sizes.length),
      }
    : undefined;
  const bytes = plan.settle(maxBytes);
  return { bytes, inputs, tensors, constants: [...constants.values()], own: products, nodes, zeros, history, of };
}

/** Tensors with the same root may have different types, or different numbers of zeros at the end. */
const keyOf = ({ root, dtype, count }: ConstantRef): string => `${root} ${dtype} ${count}`;
