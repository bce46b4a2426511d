import { toHex } from "../program/merkle/hash.ts";
import { tensorRoot } from "../program/merkle/tensor.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { encodeStepBody } from "../program/encode.ts";
import type { TensorRef } from "../program/types.ts";
import { openElement } from "../program/trace/opening.ts";
import { NO_CHECKPOINT, NO_PICK, ZERO_HASH, type StepProof } from "../chain/structs.ts";
import type { Disputed } from "./disputed.ts";
import { openable, programFacts, type Execution } from "./run/execution.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { checkpointOf, openCheckpoint, openStep } from "./openings.ts";

/** The element to prove: of a step's tensor in an item, in a range that begins at `first`, in the revealed chunk. */
type Target = { item: number; step: number; first: number; element: number; chunk: Uint8Array };

/**
 * Builds a proof against a wrong element of a step. Paths lead through the worker's own nodes, from the game's moves.
 * @returns The proof and the exact value, a word of the element's type.
 */
export function buildStepProof(
  run: RunExecution,
  disputed: Disputed,
  { item, step: s, first, element, chunk }: Target,
): { proof: StepProof; exact: bigint } {
  const execution = run.item(item);
  const step = execution.model.program.steps[s]!;
  const { value, openings } = openElement(
    step,
    element,
    step.inputs.map((ref) => openable(execution, ref)),
  );
  const proof: StepProof = {
    pick: { ...NO_PICK, program: programFacts(execution.commitment), step: openStep(execution, s) },
    body: toHex(encodeStepBody(step)),
    element: BigInt(element),
    chunk: toHex(chunk),
    chunkSiblings: [],
    ...provePrevious(run, disputed, item, step.inputs),
    inputs: step.inputs.map((ref) => proveInput(run, disputed, item, ref, first)),
    openings,
  };
  return { proof, exact: value };
}

/** Whether a step reads a tensor of the item before. */
function isCarried({ program: { model } }: RunExecution, item: number, ref: TensorRef): boolean {
  return item > 0 && ref.kind === "input" && model.program.inputs[ref.index]!.source?.kind === "carried";
}

/** Returns the previous item's trace root, if an input is carried from the previous item. */
function provePrevious(
  run: RunExecution,
  disputed: Disputed,
  item: number,
  refs: readonly TensorRef[],
): Pick<StepProof, "previous" | "previousSiblings"> {
  if (!refs.some((ref) => isCarried(run, item, ref))) return { previous: ZERO_HASH, previousSiblings: [] };
  return { previous: run.list.node(0, item - 1), previousSiblings: disputed.run!.path(item - 1) };
}

function proveInput(
  run: RunExecution,
  { trace, interior }: Disputed,
  item: number,
  ref: TensorRef,
  first: number,
): StepProof["inputs"][number] {
  const execution = run.item(item);
  const none = { checkpointIndex: 0, checkpoint: NO_CHECKPOINT };
  if (ref.kind === "constant") return { root: ZERO_HASH, siblings: [], ...none };
  if (ref.kind === "input") return { ...proveItemInput(run, execution, item, ref.index), ...none };
  const { root } = execution.trace.tree(ref.index);
  if (ref.index >= first) {
    if (interior === undefined) throw new RangeError(`step ${ref.index} is read in a range that was not expanded`);
    return { root, siblings: interior.path(ref.index - first), ...none };
  }
  const j = checkpointOf(execution, ref.index);
  return { root, siblings: trace!.path(j), checkpointIndex: j, checkpoint: openCheckpoint(execution, j) };
}

/**
 * Proves a program input of an item. The previous item's lists come from the challenger's own execution: both sides
 * agree on the previous item.
 */
function proveItemInput(
  run: RunExecution,
  execution: Execution,
  item: number,
  index: number,
): Pick<StepProof["inputs"][number], "root" | "siblings"> {
  const { source } = run.program.model.program.inputs[index]!;
  if (source?.kind === "index") return { root: ZERO_HASH, siblings: [] };
  if (source?.kind === "carried" && item > 0) {
    const { list } = run.item(item - 1).trace;
    return { root: list.node(0, source.checkpoint), siblings: list.path(source.checkpoint) };
  }
  return { root: tensorRoot(execution.inputs[index]!), siblings: run.inputs.path(index, item) };
}

/**
 * Returns the number of the first element in a chunk that differs from the own execution; undefined if no element
 * differs.
 */
export function firstDifferentElement(
  claimed: Uint8Array,
  own: Uint8Array,
  chunk: number,
  dtype: Parameters<typeof dtypeBytes>[0],
): number | undefined {
  const at = claimed.findIndex((byte, k) => byte !== own[k]);
  return at === -1 ? undefined : Math.floor((chunk * claimed.length + at) / dtypeBytes(dtype));
}
