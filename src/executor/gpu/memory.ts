import type { CompiledModel } from "../../program/compiled.ts";
import { chunksOf, levelBytes } from "../../program/merkle/levels.ts";
import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { TensorRef } from "../../program/types.ts";
import { MemoryPlan, type Region } from "../memory/memoryPlan.ts";

type ConstantRef = TensorRef & { kind: "constant" };

/** Heights of trees are below this. */
export const HEIGHTS = 32;

/** Where a program's data lie in the GPU's memory, by byte addresses. */
type GpuMemory = {
  bytes: number;
  inputs: readonly Region[];
  tensors: readonly Region[];
  constants: readonly { ref: ConstantRef; region: Region }[];
  /** For each checkpoint, the nodes of the tensor's tree, as `Levels` has them. */
  nodes: readonly Region[];
  /** The nodes for missing leaves, of all heights. */
  zeros: Region;
  /** The place of what a step reads. */
  of(ref: TensorRef): Region;
};

/**
 * Plans the GPU's memory: tensors with disjoint lifetimes share bytes.
 * @param maxBytes The most that the GPU binds at once.
 * @throws ExecutionMemoryError
 */
export function gpuMemory({ program }: CompiledModel, maxBytes: number): GpuMemory {
  const plan = new MemoryPlan();
  const inputs = program.inputs.map((input) => plan.during(bytesOf(input), -1, -1));
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
  const nodes = program.checkpoints.map(({ step }) =>
    plan.during(levelBytes(chunksOf(bytesOf(program.steps[step]!))), step, step),
  );
  const zeros = plan.permanent(HEIGHTS * HASH_BYTES);
  return { bytes: plan.settle(maxBytes), inputs, tensors, constants: [...constants.values()], nodes, zeros, of };
}

/** Tensors with the same root may have different types, or different numbers of zeros at the end. */
const keyOf = ({ root, dtype, count }: ConstantRef): string => `${root} ${dtype} ${count}`;
