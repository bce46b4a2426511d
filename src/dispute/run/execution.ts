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

/** A model that a player compiled locally, with the trees for opening the program. */
export type KnownProgram = { model: CompiledModel; commitment: ProgramCommitment };

/** The program properties needed for decisions about a job and the job's games. */
export type ProgramShape = {
  /** Bytes of the program's header. */
  headerBytes: number;
  checkpoints: number;
  /** Bytes of each output found only in the last item: only these outputs fit delivery on chain. */
  outputBytes: readonly number[];
  outputs: number;
  /** True if some output exists in each item of a run. */
  hasEach: boolean;
  /** Whether items of a run take anything from the items before. */
  isCarried: boolean;
  steps: number;
  /** The maximum number of steps in a checkpoint's range. */
  range: number;
  /** Bytes of the largest tensor made by a step. */
  tensorBytes: number;
  /** Gas of the most expensive step proof, sent in a separate transaction. */
  proofGas: number;
};

/** A player's own execution of a job's item. */
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

/** Returns the program properties needed for decisions about a job. */
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

/** Returns the bytes of a step's input tensor, and the tensor's tree. */
export function openable({ model, inputs, trace }: Execution, ref: TensorRef): OpenableTensor {
  if (ref.kind === "step") return { bytes: trace.tensor(ref.index), tree: () => trace.tree(ref.index) };
  const bytes = ref.kind === "input" ? inputs[ref.index]! : constantBytes(model.constants, ref);
  return { bytes, tree: () => tensorTree(bytes) };
}
