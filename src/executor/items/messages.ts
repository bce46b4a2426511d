import type { BlockInputs, BlockResult } from "../blocks/runBlock.ts";
import type { ExecutorOptions } from "../createExecutor.ts";
import type { CompiledModel } from "../../program/compiled.ts";

/** The parts of a model needed by a thread's executor, sent when the thread starts. */
export type ThreadModel = Pick<
  CompiledModel,
  "program" | "programRoot" | "constants" | "inputs" | "outputs" | "origins"
>;

/** Messages to a thread: an item to execute, or the end of the items. */
export type ToThread =
  | {
      kind: "item";
      inputs: readonly Uint8Array[];
      /** Steps whose tensors are asked for; all without it. */
      kept?: readonly number[];
      /**
       * True if the checkpoints' tensors are hashed. The tensors then lie in one buffer, together with their trees'
       * nodes.
       */
      isHashed: boolean;
    }
  | {
      kind: "block";
      items: BlockInputs;
      /** The blocks for which the thread prepares an executor with the first block. */
      blocks: NonNullable<ExecutorOptions["blocks"]>;
      isHashed: boolean;
      isUnsure: boolean;
    }
  | { kind: "end" };

/** A block's result. Each item's trace goes as the roots in the trace's list. */
export type SentBlock = Omit<BlockResult, "items"> & {
  items: readonly { roots: Uint8Array | undefined; tensors: readonly Uint8Array[] }[];
};

/** Messages from a thread: readiness, an item's tensors, a block, an engine fault, or another reason for failure. */
export type FromThread =
  { ready: true } | { tensors: Uint8Array[] } | { block: SentBlock } | { fault: string } | { reason: string };
