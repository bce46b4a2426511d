import type { Address, Hex } from "viem";
import { DisputedList } from "../../src/trace/disputedList.ts";
import type { Disputed } from "../../src/dispute/disputed.ts";
import type { KnownProgram } from "../../src/player/execution.ts";
import type { RunExecution } from "../../src/player/runExecution.ts";
import { hopOf } from "../../src/market/hop.ts";
import { checkpointOf } from "../../src/dispute/openings.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { openingPick, pickBelow } from "../../src/dispute/pick.ts";
import type { GameState } from "../../src/market/state.ts";
import { buildStepProof } from "../../src/dispute/stepProof.ts";
import { listOf } from "../../src/dispute/workerMove.ts";
import { programFacts } from "../../src/player/execution.ts";
import { stateOf, type GameRecord } from "../../src/market/history.ts";
import { Level, type Pick, type StepProof } from "../../src/chain/structs.ts";
import { CHUNK_BYTES, depthOf } from "../../src/merkle/sizes.ts";
import { chunkOf } from "../../src/merkle/tensor.ts";
import { dtypeBytes } from "../../src/numerics/dtype.ts";
import { challengerMove } from "../../src/dispute/challengerMove.ts";
import type { Prng } from "../random/prng.ts";
import type { SoakWorker } from "./workers.ts";

export type Reply =
  { kind: "pick"; pick: Pick } | { kind: "prove"; proof: StepProof } | { kind: "concede" } | { kind: "stall" };

export type ChallengerKind = "watcher" | "jumper" | "confused" | "wanderer" | "prover" | "silent" | "quitter";

/** One player against one claim. */
export type SoakChallenger = {
  kind: ChallengerKind;
  /** Whether it challenges with cause and plays to win. */
  honest: boolean;
  address: Address;
  /** Proves as soon as a tensor is reached, without waiting for the worker's reveals. */
  eager?: boolean;
  opening: () => Pick;
  reply: (game: GameRecord, now: bigint) => Reply;
};

/** The element at which a player that knows the worker's lists aims. */
type Goal = { item: number; checkpoint: number; step: number; element: number };

/** The watcher of this repository, with its own execution. */
export function watcher(address: Address, run: RunExecution, nodes: Hex, arityBits: number): SoakChallenger {
  const reply = (game: GameRecord, now: bigint): Reply => {
    const move = challengerMove(run, nodes, game.moves, arityBits, now);
    return move.kind === "wait" || move.kind === "timeout" ? { kind: "stall" } : move;
  };
  const submitted = submittedList(run, nodes);
  // A watcher that finds no error opens at the root, without cause.
  const opening = (): Pick =>
    openingPick(run, submitted, arityBits) ?? rootPick(run.program, submitted.node(submitted.depth, 0), run.items);
  return { kind: "watcher", honest: true, address, opening, reply };
}

/** A watcher that believes in a wrong execution. */
export const confused = (address: Address, wrong: RunExecution, nodes: Hex, arityBits: number): SoakChallenger => ({
  ...watcher(address, wrong, nodes, arityBits),
  kind: "confused",
  honest: false,
});

/** The pick that opens a game at a claim's root. @param items Of the run. */
export function rootPick(program: KnownProgram, root: Pick["node"], items = 1): Pick {
  const [level, depth] =
    items === 1 ? [Level.trace, program.commitment.checkpoints.depth] : [Level.run, depthOf(items)];
  const state = { level, depth, first: 0 } as GameState;
  return pickBelow(program, state, { depth, index: 0, node: root, siblings: [] });
}

/** Holds the published trace and jumps down to its first difference, by any number of levels at a time. */
export const jumper = (prng: Prng, address: Address, own: RunExecution, theirs: RunExecution, arityBits: number) =>
  guided(prng, "jumper", true, address, theirs, firstDifference(own, theirs), arityBits);

/** Picks any nodes of the published trace, without cause, and tries to prove an element. */
export function wanderer(
  prng: Prng,
  kind: "wanderer" | "prover",
  address: Address,
  theirs: RunExecution,
  arityBits: number,
): SoakChallenger {
  const { checkpoints, steps } = theirs.program.model.program;
  const item = prng.below(theirs.items);
  const checkpoint = prng.below(checkpoints.length);
  const { first, step: last } = checkpoints[checkpoint]!;
  const step = first + prng.below(last - first + 1);
  return guided(
    prng,
    kind,
    false,
    address,
    theirs,
    { item, checkpoint, step, element: prng.below(steps[step]!.count) },
    arityBits,
  );
}

/** Opens a game and never moves again. */
export const silent = (address: Address, theirs: RunExecution, root: Pick["node"]): SoakChallenger => ({
  kind: "silent",
  honest: false,
  address,
  opening: () => rootPick(theirs.program, root, theirs.items),
  reply: () => ({ kind: "stall" }),
});

/** Concedes after some moves. */
function quitter(prng: Prng, inner: SoakChallenger): SoakChallenger {
  const after = 1 + prng.below(6);
  return {
    ...inner,
    kind: "quitter",
    honest: false,
    reply: (game, now) => (game.moves.length > after ? { kind: "concede" } : inner.reply(game, now)),
  };
}

/** A kind of challenger without cause, drawn at random. @param wrong An execution that differs from the claim. */
export function parasite(
  prng: Prng,
  address: Address,
  worker: SoakWorker,
  own: RunExecution,
  wrong: () => RunExecution,
  arityBits: number,
): SoakChallenger {
  const published = worker.published;
  if (published === undefined) return silent(address, own, worker.root);
  switch (prng.below(6)) {
    case 0:
      return silent(address, own, worker.root);
    case 1:
      return quitter(prng, wanderer(prng, "wanderer", address, published, arityBits));
    case 2:
      return wanderer(prng, "wanderer", address, published, arityBits);
    case 3:
      return wanderer(prng, "prover", address, published, arityBits);
    default:
      return confused(address, wrong(), worker.nodes, arityBits);
  }
}

function guided(
  prng: Prng,
  kind: ChallengerKind,
  honest: boolean,
  address: Address,
  theirs: RunExecution,
  goal: Goal,
  arityBits: number,
): SoakChallenger {
  const { program, claimed } = theirs;
  const eager = prng.below(2) === 0;
  const { dtype } = program.model.program.steps[goal.step]!;
  const chunk = Math.floor((goal.element * dtypeBytes(dtype)) / CHUNK_BYTES);
  const leafIn = ({ level, first }: GameState): number => {
    if (level === Level.run) return goal.item;
    return level === Level.trace ? goal.checkpoint : level === Level.interior ? goal.step - first : chunk;
  };
  const opening = (): Pick => {
    const { depth } = claimed;
    const state = { level: theirs.claimedLevel, depth, first: 0 } as GameState;
    const below = prng.below(depth + 1);
    const index = Math.floor(leafIn(state) / 2 ** below);
    const landing = { depth: below, index, node: claimed.node(below, index), siblings: claimed.path(index, below) };
    return { ...pickBelow(program, state, landing), program: programFacts(program.commitment) };
  };
  const reply = (game: GameRecord): Reply => {
    const state = stateOf(game);
    if (state.level === Level.tensor && (state.depth === 0 || eager)) {
      return { kind: "prove", proof: proofAt(theirs, goal, state) };
    }
    const list = listOf(theirs, state);
    const hop = hopOf(state.depth, arityBits);
    const below = state.depth - hop - prng.below(state.depth - hop + 1);
    const index = Math.floor(leafIn(state) / 2 ** below);
    const siblings = list.path(index, below, state.depth);
    return {
      kind: "pick",
      pick: pickBelow(program, state, { depth: below, index, node: list.node(below, index), siblings }),
    };
  };
  return { kind, honest, address, eager, opening, reply };
}

/** The proof of an element from the worker's own tensors and lists, at any node above its chunk. */
export function proofAt(
  theirs: RunExecution,
  { item, step, element }: Omit<Goal, "checkpoint">,
  state: GameState,
): StepProof {
  const { trace, model } = theirs.item(item);
  const { dtype } = model.program.steps[step]!;
  const index = Math.floor((element * dtypeBytes(dtype)) / CHUNK_BYTES);
  const chunk = chunkOf(trace.tensor(step), index);
  const disputed: Disputed = { run: new DisputedList(theirs.list), trace: new DisputedList(trace.list) };
  if (state.first !== state.last) {
    disputed.interior = new DisputedList(trace.interior(checkpointOf(theirs.program, state.last)));
  }
  const { proof } = buildStepProof(theirs, disputed, { item, step, first: state.first, element, chunk });
  return { ...proof, chunkSiblings: trace.tree(step).path(index, 0, state.depth) };
}

/** The first difference of two executions in the order in which a game meets it. */
export function firstDifference(own: RunExecution, theirs: RunExecution): Goal {
  const { checkpoints, steps } = own.program.model.program;
  const differs = (i: number, s: number) =>
    Buffer.compare(own.item(i).trace.tensor(s), theirs.item(i).trace.tensor(s)) !== 0;
  const different = (i: number): number => checkpoints.findIndex(({ step }) => differs(i, step));
  let item = 0;
  while (different(item) === -1) item++;
  const checkpoint = different(item);
  const { first, step: last } = checkpoints[checkpoint]!;
  let step = first;
  while (step < last && !differs(item, step)) step++;
  const [a, b] = [own.item(item).trace.tensor(step), theirs.item(item).trace.tensor(step)];
  const at = a.findIndex((byte, k) => byte !== b[k]);
  return { item, checkpoint, step, element: Math.floor(at / dtypeBytes(steps[step]!.dtype)) };
}
