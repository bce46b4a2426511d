import { toHex } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { tensorRoot, tensorTree } from "../merkle/tensor.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { constantBytes } from "../program/constants.ts";
import { commitProgram, type ProgramCommitment } from "../program/root.ts";
import type { TensorRef } from "../program/types.ts";
import type { OpenableTensor } from "../trace/opening.ts";
import type { Trace } from "../trace/trace.ts";
import type { ProgramFacts } from "../chain/structs.ts";

/** A model that a player compiled itself, with the trees that open its program. */
export type KnownProgram = { model: CompiledModel; commitment: ProgramCommitment };

/** What decisions about a job need to know of its program. */
export type ProgramShape = {
  /** Of the program's header. */
  headerBytes: number;
  checkpoints: number;
  /** Bytes of each output. */
  outputBytes: readonly number[];
};

/** A player's own execution of a job: all that its moves are made of. */
export type Execution = KnownProgram & {
  /** The job's input tensors: little-endian bytes. */
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
  const outputBytes = program.outputs.map((checkpoint) => {
    const { dtype, count } = program.steps[program.checkpoints[checkpoint]!.step]!;
    return count * dtypeBytes(dtype);
  });
  return { headerBytes: commitment.header.length, checkpoints: program.checkpoints.length, outputBytes };
}

/** The preimage of the program's root. */
export const programFacts = ({ header, steps, checkpoints }: ProgramCommitment): ProgramFacts => ({
  header: toHex(header),
  stepsRoot: steps.root,
  checkpointsRoot: checkpoints.root,
});

/** The list of a job's input tensor roots. */
export const inputsList = (inputs: readonly Uint8Array[]): MerkleList => MerkleList.fromHashes(inputs.map(tensorRoot));

/** The bytes of a tensor that a step reads, and its tree. */
export function openable({ model, inputs, trace }: Execution, ref: TensorRef): OpenableTensor {
  if (ref.kind === "step") return { bytes: trace.tensor(ref.index), tree: () => trace.tree(ref.index) };
  const bytes = ref.kind === "input" ? inputs[ref.index]! : constantBytes(model.constants, ref);
  return { bytes, tree: () => tensorTree(bytes) };
}
