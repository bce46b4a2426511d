import { CHUNK_BYTES, depthOf } from "./merkle/sizes.ts";
import { encodeStepBody } from "./encode.ts";
import { openedChunks, type Opened } from "./openedChunks.ts";
import { sum } from "./sums.ts";
import type { InputSource, Step, TensorRef } from "./types.ts";
import { HEADER_BYTES, LIMITS, MAX_LEVELS } from "./limits.ts";
import { MAX_ITEMS } from "./run.ts";

/*
 * The bytes of the transaction that carries a step proof: `prove(PackedState, Claim, StepProof)` of
 * contracts/interfaces/IDisputeGame.sol in Solidity's ABI, where every field, length and offset is a word of 32 bytes.
 * test/program/proofBytes.test.ts holds these numbers to the ABI and to proofs as they are sent.
 */

const WORD = 32;

/** Words that every proof has: structs without their dynamic parts, their offsets and lengths. */
const FIXED_WORDS =
  9 + // PackedState
  18 + // Job
  3 + // Claim: worker, root, collateral
  1 + // offset of StepProof
  9 + // StepProof: pick, body, element, chunk, chunkSiblings, previous, previousSiblings, inputs, openings
  6 + // Pick: index, node, siblings, program, checkpoint, step
  3 + // ProgramFacts: header, two roots
  3 + // CheckpointOpening
  4 + // StepOpening
  10; // lengths: three paths of the pick, header, body, chunk, its path, the path of the item before, inputs, openings

/** Words of an input's proof: offset, InputProof, CheckpointOpening, and the lengths of their two paths. */
const INPUT_PROOF_WORDS = 1 + 4 + 3 + 2;
/** Words of an input's opening: offset, ChunkOpening, and its three lengths. A chunk has a word for its number. */
const OPENING_WORDS = 1 + 3 + 3;
/** Words for an input besides chunks, chunk numbers, and siblings. */
export const INPUT_WORDS = INPUT_PROOF_WORDS + OPENING_WORDS;

/** The selector of `prove`. */
const SELECTOR = 4;

/**
 * Siblings on the longest paths independent of the step: from the trace root to the trace's leaf, and for the leaf's
 * checkpoint, the step, and the claimed chunk.
 */
const FIXED_SIBLINGS = MAX_LEVELS.trace + MAX_LEVELS.trace + MAX_LEVELS.steps + MAX_LEVELS.tensor;

/**
 * Room for runs: the list of items has up to 16 levels, the path of the previous item as many, and a pick from the item
 * list straight to a tensor four more than a pick from a trace.
 */
export const ROOM_FOR_RUNS = 768;

/**
 * The envelope in RLP (EIP-1559): its type and two lists' heads (1 + 4 + 4), chain id, nonce and gas (9 each), two fees
 * (33 each), address 21, value 1, access list 1, signature (1 + 33 + 33).
 */
export const ENVELOPE_BYTES = 9 + 3 * 9 + 2 * 33 + 21 + 1 + 1 + 67;

/**
 * An upper bound on the transaction without the parts that the step determines: the largest header and the longest
 * paths.
 */
const FIXED_BYTES =
  ENVELOPE_BYTES +
  SELECTOR +
  WORD * FIXED_WORDS +
  padded(HEADER_BYTES.max) +
  CHUNK_BYTES +
  WORD * FIXED_SIBLINGS +
  ROOM_FOR_RUNS;

/** Levels of the input list in a program with the largest header. */
const INPUT_LEVELS = depthOf(Math.floor((HEADER_BYTES.max - HEADER_BYTES.fixed) / HEADER_BYTES.input));

/** The additional siblings in an input's path, compared with a shared input. */
const RUN_SIBLINGS: Readonly<Record<InputSource["kind"], number>> = {
  shared: 0,
  index: 0,
  // The path in the list of the items' tensors comes before.
  each: depthOf(MAX_ITEMS),
  // The path of the carried checkpoint in the previous item's trace, instead of an input's path.
  carried: MAX_LEVELS.trace - INPUT_LEVELS,
};

/**
 * Returns the bytes that a step's proof takes in addition to `estimateStepProofBytes`, because items have separate
 * inputs or carry inputs.
 * @param sources The sources of the program's inputs.
 */
export const runProofBytes = ({ inputs }: Step, sources: readonly InputSource["kind"][]): number =>
  WORD * sum(inputs.map((ref) => (ref.kind === "input" ? RUN_SIBLINGS[sources[ref.index]!] : 0)));

/** The most that `runProofBytes` gives for any step. */
export const maxRunProofBytes = (sources: readonly InputSource["kind"][]): number =>
  WORD * LIMITS.inputs * Math.max(0, ...sources.map((source) => RUN_SIBLINGS[source]));

/** Returns the siblings on the longest path to the root of a step's input, in a program that is not a run. */
function inputSiblings({ kind }: TensorRef): number {
  switch (kind) {
    case "constant":
      return 0;
    case "input":
      return INPUT_LEVELS;
    case "step":
      // A step before the range: the checkpoint under the trace root, and under the program's list. In the range the
      // path in the interior list is shorter.
      return MAX_LEVELS.trace + MAX_LEVELS.trace;
  }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / WORD) * WORD;
}

/**
 * The bytes of the transaction that carries the proof of an element of a step, for the worst element, in the program
 * with the largest header and the longest lists: never less than it takes.
 * @param step A well-formed step.
 */
export const estimateStepProofBytes = (step: Step): number =>
  proofBytes(
    step,
    encodeStepBody(step).length,
    step.inputs.map((_, input) => openedChunks(step, input)),
  );

/** The same where the length of the body and the openings are known. */
export function proofBytes(step: Step, bodyBytes: number, opened: readonly Opened[]): number {
  const chunks = sum(opened.map((input) => input.chunks));
  const siblings = sum(opened.map((input) => input.siblings)) + sum(step.inputs.map(inputSiblings));
  const inputs = WORD * (INPUT_WORDS * step.inputs.length + siblings) + (CHUNK_BYTES + WORD) * chunks;
  return FIXED_BYTES + padded(bodyBytes) + inputs;
}
