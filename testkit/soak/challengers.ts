import type { Address, Hex } from "viem";
import { DisputedList } from "../../src/program/trace/disputedList.ts";
import type { Disputed } from "../../src/dispute/disputed.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { hopOf } from "../../src/chain/market/revealLevels.ts";
import { checkpointOf } from "../../src/dispute/openings.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { listBelow } from "../../src/dispute/expansion.ts";
import { openingPick, pickAt, pickBelow } from "../../src/dispute/pick.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { buildStepProof } from "../../src/dispute/stepProof.ts";
import { listOf } from "../../src/dispute/workerMove.ts";
import { programFacts } from "../../src/dispute/run/execution.ts";
import { stateOf, type GameRecord } from "../../src/chain/market/history.ts";
import { Level, type Pick, type StepProof } from "../../src/chain/structs.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { chunkOf } from "../../src/program/merkle/tensor.ts";
import { dtypeBytes } from "../../src/numerics/dtype.ts";
import { challengerMove } from "../../src/dispute/challengerMove.ts";
import type { Prng } from "../random/prng.ts";
import { lyingRun } from "./lies.ts";
import type { SoakMarket } from "./market.ts";
import type { SoakProgram } from "./programs.ts";
import type { SoakWorker } from "./workers.ts";

type Reply =
  { kind: "pick"; pick: Pick } | { kind: "prove"; proof: StepProof } | { kind: "concede" } | { kind: "stall" };

type ChallengerKind = "watcher" | "jumper" | "confused" | "wanderer" | "prover" | "silent" | "quitter";

/** One player against one claim. */
export type SoakChallenger = {
  kind: ChallengerKind;
  /** Whether it challenges with cause and plays to win. */
  honest: boolean;
  address: Address;
  /** Proves on reaching a tensor, without waiting for the worker's reveals. */
  eager?: boolean;
  opening: () => Pick;
  reply: (game: GameRecord, now: bigint) => Reply;
};

/** The target element for a player with knowledge of the worker's lists. */
type Goal = { output: number; item: number; checkpoint: number; step: number; element: number };

/** Returns this repository's watcher, with a separate execution. */
export function watcher(address: Address, run: RunExecution, nodes: Hex, arityBits: number): SoakChallenger {
  const reply = (game: GameRecord, now: bigint): Reply => {
    const move = challengerMove(run, nodes, game.moves, arityBits, now);
    return move.kind === "wait" || move.kind === "timeout" ? { kind: "stall" } : move;
  };
  const submitted = submittedList(run, nodes);
  // A watcher that finds no error opens at the root, without cause.
  const opening = (): Pick => openingPick(run, submitted, arityBits) ?? rootPick(run, submitted);
  return { kind: "watcher", honest: true, address, opening, reply };
}

/** A watcher that believes in a wrong execution. */
export const confused = (address: Address, wrong: RunExecution, nodes: Hex, arityBits: number): SoakChallenger => ({
  ...watcher(address, wrong, nodes, arityBits),
  kind: "confused",
  honest: false,
});

/**
 * Returns the pick that opens a game at a claim's top: at the root, or at an answer's first output.
 * @param list The list as submitted.
 */
export function rootPick(run: RunExecution, list: DisputedList): Pick {
  const depth = run.form === "answer" ? 0 : list.depth;
  return pickAt(run, { depth, index: 0, node: list.node(depth, 0), siblings: list.path(0, depth) });
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
  const output = prng.below(theirs.answer.outputs.length);
  const way = listBelow(theirs.program.model.program, output, theirs.items);
  const item = theirs.form === "answer" && way === "trace" ? theirs.items - 1 : prng.below(theirs.items);
  const checkpoint = prng.below(checkpoints.length);
  const { first, step: last } = checkpoints[checkpoint]!;
  const step = first + prng.below(last - first + 1);
  return guided(
    prng,
    kind,
    false,
    address,
    theirs,
    { output, item, checkpoint, step, element: prng.below(steps[step]!.count) },
    arityBits,
  );
}

/** Opens a game and never moves again. */
const silent = (address: Address, own: RunExecution, nodes: Hex): SoakChallenger => ({
  kind: "silent",
  honest: false,
  address,
  opening: () => rootPick(own, submittedList(own, nodes)),
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
function parasite(
  prng: Prng,
  address: Address,
  worker: SoakWorker,
  own: RunExecution,
  wrong: () => RunExecution,
  arityBits: number,
): SoakChallenger {
  const published = worker.published;
  if (published === undefined) return silent(address, own, worker.nodes);
  switch (prng.below(6)) {
    case 0:
      return silent(address, own, worker.nodes);
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

/**
 * Draws a claim's challengers. A watched wrong claim gets at least one honest challenger, a right claim gets none.
 * @param watched Whether an honest watcher looks at the claim.
 */
export function drawChallengers(
  { prng, chain, watchers, parasites }: SoakMarket,
  program: SoakProgram,
  worker: SoakWorker,
  watched = true,
): SoakChallenger[] {
  const { arityBits } = chain.parameters;
  const own = program.right;
  const wrong = () => lyingRun(prng, program, "bit");
  const list: SoakChallenger[] = [];
  if (!worker.right && watched) {
    const first = prng.below(watchers.length);
    for (let k = 0; k <= prng.below(2); k++) {
      const address = watchers[(first + k) % watchers.length]!;
      const { published } = worker;
      const jumps = published !== undefined && prng.below(2) === 0;
      list.push(
        jumps ? jumper(prng, address, own, published, arityBits) : watcher(address, own, worker.nodes, arityBits),
      );
    }
  } else if (worker.kind === "deserter") {
    list.push(confused(prng.pick(parasites), wrong(), worker.nodes, arityBits));
  }
  const others = prng.below(40) === 0 ? 20 : prng.below(worker.right ? 5 : 3);
  for (let k = 0; k < others; k++) {
    list.push(parasite(prng, prng.pick(parasites), worker, own, wrong, arityBits));
  }
  return list;
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
  const leafIn = (level: Level, first: number): number => {
    if (level === Level.answer) return goal.output;
    if (level === Level.run || level === Level.items) return goal.item;
    return level === Level.trace ? goal.checkpoint : level === Level.interior ? goal.step - first : chunk;
  };
  const opening = (): Pick => {
    const depth = theirs.form === "answer" ? 0 : prng.below(claimed.depth + 1);
    const index = Math.floor(leafIn(theirs.claimedLevel, 0) / 2 ** depth);
    const landing = { depth, index, node: claimed.node(depth, index), siblings: claimed.path(index, depth) };
    return { ...pickAt(theirs, landing), program: programFacts(program.commitment) };
  };
  const reply = (game: GameRecord): Reply => {
    const state = stateOf(game);
    if (state.level === Level.tensor && (state.depth === 0 || eager)) {
      return { kind: "prove", proof: proofAt(theirs, goal, state) };
    }
    const list = listOf(theirs, state);
    const hop = hopOf(state.depth, arityBits);
    const below = state.depth - hop - prng.below(state.depth - hop + 1);
    const index = Math.floor(leafIn(state.level, state.first) / 2 ** below);
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
  { item, step, element }: Omit<Goal, "output" | "checkpoint">,
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

/** Returns the first difference between two executions, in the order of a game. */
export function firstDifference(own: RunExecution, theirs: RunExecution): Goal {
  const { checkpoints, steps } = own.program.model.program;
  const differs = (i: number, s: number) =>
    Buffer.compare(own.item(i).trace.tensor(s), theirs.item(i).trace.tensor(s)) !== 0;
  const different = (i: number): number => checkpoints.findIndex(({ step }) => differs(i, step));
  const { program } = own.program.model;
  const isAnswer = own.form === "answer";
  const output = isAnswer ? own.answer.outputs.findIndex(({ root }, k) => root !== theirs.answer.outputs[k]!.root) : 0;
  const way = isAnswer ? listBelow(program, output, own.items) : "run";
  const hasOther = (i: number): boolean =>
    own.answer.outputs[output]!.node(0, i) !== theirs.answer.outputs[output]!.node(0, i);
  let item = way === "trace" ? own.items - 1 : 0;
  while (way === "items" ? !hasOther(item) : different(item) === -1) item++;
  const checkpoint = different(item);
  const { first, step: last } = checkpoints[checkpoint]!;
  let step = first;
  while (step < last && !differs(item, step)) step++;
  const [a, b] = [own.item(item).trace.tensor(step), theirs.item(item).trace.tensor(step)];
  const at = a.findIndex((byte, k) => byte !== b[k]);
  return { output, item, checkpoint, step, element: Math.floor(at / dtypeBytes(steps[step]!.dtype)) };
}
