import { toHex } from "../merkle/hash.ts";
import { inputsList } from "../merkle/tensor.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import { encodeStepBody } from "../program/encode.ts";
import type { TensorRef } from "../program/types.ts";
import { openElement } from "../trace/opening.ts";
import { NO_CHECKPOINT, NO_PICK, ZERO_HASH, type StepProof } from "../chain/structs.ts";
import type { Disputed } from "./disputed.ts";
import { openable, programFacts, type Execution } from "../player/execution.ts";
import { checkpointOf, openCheckpoint, openStep } from "./openings.ts";

/** The element to prove: of the tensor of `step`, in a range that begins at `first`, in the revealed chunk. */
export type Target = { step: number; first: number; element: number; chunk: Uint8Array };

/**
 * Builds the proof that an element of a step is wrong. Paths lead through the worker's own nodes, as the game has shown
 * them.
 * @returns The proof and the exact value, a word of the element's type.
 */
export function buildStepProof(
  execution: Execution,
  disputed: Disputed,
  { step: s, first, element, chunk }: Target,
): { proof: StepProof; exact: bigint } {
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
    inputs: step.inputs.map((ref) => proveInput(execution, disputed, ref, first)),
    openings,
  };
  return { proof, exact: value };
}

function proveInput(
  execution: Execution,
  { trace, interior }: Disputed,
  ref: TensorRef,
  first: number,
): StepProof["inputs"][number] {
  const none = { checkpointIndex: 0, checkpoint: NO_CHECKPOINT };
  if (ref.kind === "constant") return { root: ZERO_HASH, siblings: [], ...none };
  if (ref.kind === "input") {
    const list = inputsList(execution.inputs);
    return { root: list.node(0, ref.index), siblings: list.path(ref.index), ...none };
  }
  const { root } = execution.trace.tree(ref.index);
  if (ref.index >= first) {
    if (interior === undefined) throw new RangeError(`step ${ref.index} is read in a range that was not expanded`);
    return { root, siblings: interior.path(ref.index - first), ...none };
  }
  const j = checkpointOf(execution, ref.index);
  return { root, siblings: trace.path(j), checkpointIndex: j, checkpoint: openCheckpoint(execution, j) };
}

/** The number of the first element of a chunk that differs from the own execution's; undefined if none does. */
export function firstDifferentElement(
  claimed: Uint8Array,
  own: Uint8Array,
  chunk: number,
  dtype: Parameters<typeof dtypeBytes>[0],
): number | undefined {
  const at = claimed.findIndex((byte, k) => byte !== own[k]);
  return at === -1 ? undefined : Math.floor((chunk * claimed.length + at) / dtypeBytes(dtype));
}
