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
  | { kind: "end" };

/** Messages from a thread: readiness, an item's tensors, an engine fault, or another reason for failure. */
export type FromThread = { ready: true } | { tensors: Uint8Array[] } | { fault: string } | { reason: string };
