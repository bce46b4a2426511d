import type { CompiledModel } from "../../program/compiled.ts";

/** What a thread starts with: what an executor needs of a model. */
export type ThreadModel = Pick<
  CompiledModel,
  "program" | "programRoot" | "constants" | "inputs" | "outputs" | "origins"
>;

/** Messages to a thread: an item to execute, or that there are no more. */
export type ToThread =
  | {
      kind: "item";
      inputs: readonly Uint8Array[];
      /** Steps whose tensors are asked for; all without it. */
      kept?: readonly number[];
      /** Whether the checkpoints' tensors are hashed. They then lie in one buffer, with the nodes of their trees. */
      isHashed: boolean;
    }
  | { kind: "end" };

/** Messages from a thread: that it is ready, an item's tensors, what is wrong with its engine, why else it failed. */
export type FromThread = { ready: true } | { tensors: Uint8Array[] } | { fault: string } | { reason: string };
