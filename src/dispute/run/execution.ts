import { toHex } from "../../program/merkle/hash.ts";
import { tensorTree } from "../../program/merkle/tensor.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { constantBytes } from "../../program/constants.ts";
import { estimateStepProofGas } from "../../program/gas.ts";
import { commitProgram, type ProgramCommitment } from "../../program/root.ts";
import { carriesState } from "../../program/run.ts";
import type { Step, TensorRef } from "../../program/types.ts";
import type { OpenableTensor } from "../../program/trace/opening.ts";
import type { Trace } from "../../program/trace/trace.ts";
import type { ProgramFacts } from "../../chain/structs.ts";

/** A model that a player compiled itself, with the trees that open its program. */
export type KnownProgram = { model: CompiledModel; commitment: ProgramCommitment };

/** What decisions about a job and its games need to know of its program. */
export type ProgramShape = {
  /** Of the program's header. */
  headerBytes: number;
  checkpoints: number;
  /** Bytes of each output that the last item has alone: those that can be delivered on chain. */
  outputBytes: readonly number[];
  outputs: number;
  /** Whether there is an output that each item of a run has. */
  hasEach: boolean;
  /** Whether items of a run take anything from the items before. */
  isCarried: boolean;
  steps: number;
  /** The maximum of the steps of a checkpoint's range. */
  range: number;
  /** Bytes of the largest tensor that a step makes. */
  tensorBytes: number;
  /** Gas of the dearest step proof, as a transaction of its own. */
  proofGas: number;
};

/** A player's own execution of one item of a job. */
export type Execution = KnownProgram & {
  /** The item's input tensors: little-endian bytes. */
  inputs: readonly Uint8Array[];
  trace: Trace;
};

/** Commits to a compiled model's program. */
export const knownProgram = (model: CompiledModel): KnownProgram => ({
  model,
  commitment: commitProgram(model.program),
});

/** What decisions about a job need to know of a program. */
export function programShape({ model: { program }, commitment }: KnownProgram): ProgramShape {
  const { inputs, steps, checkpoints, outputs, each = [] } = program;
  const bytesOf = ({ dtype, count }: Step): number => count * dtypeBytes(dtype);
  const largest = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0);
  return {
    headerBytes: commitment.header.length,
    checkpoints: checkpoints.length,
    outputBytes: outputs.flatMap((checkpoint, k) =>
      each.includes(k) ? [] : [bytesOf(steps[checkpoints[checkpoint]!.step]!)],
    ),
    outputs: outputs.length,
    hasEach: each.length > 0,
    isCarried: carriesState(inputs),
    steps: steps.length,
    range: largest(checkpoints.map(({ first, step: last }) => last - first + 1)),
    tensorBytes: largest(steps.map(bytesOf)),
    proofGas: largest(steps.map(estimateStepProofGas)),
  };
}

/** The preimage of the program's root. */
export const programFacts = ({ header, steps, checkpoints }: ProgramCommitment): ProgramFacts => ({
  header: toHex(header),
  stepsRoot: steps.root,
  checkpointsRoot: checkpoints.root,
});

/** The bytes of a tensor that a step reads, and its tree. */
export function openable({ model, inputs, trace }: Execution, ref: TensorRef): OpenableTensor {
  if (ref.kind === "step") return { bytes: trace.tensor(ref.index), tree: () => trace.tree(ref.index) };
  const bytes = ref.kind === "input" ? inputs[ref.index]! : constantBytes(model.constants, ref);
  return { bytes, tree: () => tensorTree(bytes) };
}
