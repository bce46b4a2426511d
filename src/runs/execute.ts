import type { MerkleList } from "../program/merkle/list.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { Program } from "../program/types.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import type { KnownProgram } from "../dispute/run/execution.ts";

/**
 * Executes a program: one tensor for each step, canonical little-endian bytes.
 * @param keep Steps whose tensors are asked for; others may be left out, as holes. Without it, all.
 * @param trees May be given the trees of checkpoints' tensors, where those are hashed on the way.
 */
export type Execute = {
  (
    model: CompiledModel,
    inputs: readonly Uint8Array[],
    keep?: (step: number) => boolean,
    trees?: Map<number, MerkleList>,
    order?: ExecutionOrder,
  ): Promise<Uint8Array[]>;
  /** Executes several items of a run that carries state, where asking for each of them would take too long. */
  readonly stretch?: ExecuteStretch | undefined;
};

/** What decides when an execution comes, and beside which others. */
export type ExecutionOrder = {
  /** Whether other items of the same run are executed beside it. */
  isOneOfMany?: boolean;
  /** Until when the result is of use, unix seconds: the earliest comes first. Infinity if absent. */
  due?: number;
};

/** What an item gave, of the steps whose tensors its run needs: outputs and what is carried. */
export type ExecutedItem = { program: Program; tensor: (step: number) => Uint8Array };

/** Items of a run that follow each other, each of which takes something from the item before. */
export type Stretch = {
  program: KnownProgram;
  /** As of a run of their own. */
  inputs: RunInputs;
  /** The steps whose tensors of the last of them are asked for, in ascending order. */
  steps: readonly number[];
};

/** What a stretch gave. */
export type StretchResult = {
  /** What `RootsOfItems` collects of it, as of a run. */
  roots: Uint8Array;
  /** Tensors of its last item by step, with holes. */
  tensors: readonly Uint8Array[];
};

/** Executes a stretch. */
export type ExecuteStretch = (stretch: Stretch, order?: ExecutionOrder) => Promise<StretchResult>;
