import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { submissionOf, workerMove, type WorkerMove } from "../../src/dispute/workerMove.ts";
import { stateOf, type GameRecord } from "../../src/chain/market/history.ts";
import { Level, Move } from "../../src/chain/structs.ts";
import type { Hex } from "viem";
import { toHex, type Hash } from "../../src/program/merkle/hash.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import type { Prng } from "../random/prng.ts";
import { heldRun, itemsOf } from "./executedRun.ts";
import { lyingRun, mutated, paddedWithGarbage, type LieKind } from "./lies.ts";
import type { SoakProgram } from "./programs.ts";

/** A worker's answer; a wrong worker may also concede or stop answering. */
type Answer = WorkerMove | { kind: "concede" } | { kind: "stall" };

/** fickle: right here and wrong elsewhere. */
type WorkerKind = "honest" | LieKind | "chameleon" | "padding" | "garbage" | "deserter" | "fickle";

/** A worker with its claim. */
export type SoakWorker = {
  kind: WorkerKind;
  /** Whether the root is the definition's. */
  right: boolean;
  root: Hash;
  /** The submitted nodes. */
  nodes: Hex;
  /** The published execution; undefined if the worker shows each game another one. */
  published: RunExecution | undefined;
  answer: (game: GameRecord, now: bigint) => Answer;
};

const LIARS: readonly WorkerKind[] = [
  "bit",
  "bit",
  "tensor",
  "patched",
  "input",
  "chameleon",
  "chameleon",
  "padding",
  "garbage",
  "deserter",
];

/** The honest worker. */
export const honestWorker = ({ right }: SoakProgram, arityBits: number): SoakWorker => ({
  kind: "honest",
  right: true,
  root: right.root,
  nodes: submissionOf(right.claimed, arityBits, right.form),
  published: right,
  answer: (game, now) => workerMove(right, stateOf(game), arityBits, now),
});

/** Returns a liar of a random kind. If the lie changes no checkpoint, the function draws another lie. */
export function lyingWorker(prng: Prng, program: SoakProgram, arityBits: number): SoakWorker {
  const honest = honestWorker(program, arityBits);
  for (;;) {
    const kind = prng.pick(LIARS);
    const worker = liar(prng, program, arityBits, kind);
    if (worker !== undefined && (kind === "deserter" || worker.root !== honest.root)) {
      return sometimesGivingUp(prng, worker);
    }
  }
}

function liar(prng: Prng, program: SoakProgram, arityBits: number, kind: WorkerKind): SoakWorker | undefined {
  const { right } = program;
  if (kind === "garbage") {
    const root = () => toHex(Uint8Array.from({ length: 32 }, () => 1 + prng.below(255)));
    const list = MerkleList.fromHashes(Array.from({ length: right.claimed.width }, root));
    const nodes = submissionOf(list, arityBits, right.form);
    return { kind, right: false, root: list.root, nodes, published: undefined, answer: () => ({ kind: "stall" }) };
  }
  if (kind === "deserter") {
    const { root, nodes, published } = honestWorker(program, arityBits);
    return {
      kind,
      right: true,
      root,
      nodes,
      published,
      answer: () => ({ kind: prng.pick(["stall", "concede"]) }),
    };
  }
  const run =
    kind === "padding"
      ? paddedWithGarbage(prng, program)
      : lyingRun(prng, program, kind === "chameleon" ? "tensor" : (kind as LieKind));
  if (run === undefined) return undefined;
  const changing = kind === "chameleon";
  const faces = new Map<string, RunExecution>();
  /** Another interior in each game under the same leaf, or another trace with the same output. */
  const faceOf = (game: GameRecord): RunExecution => {
    const { last, level, item, depth, step: checkpoint } = stateOf(game);
    const expanded = game.moves.some(({ move }) => move === Move.expand);
    const expanding = level !== Level.tensor && depth === 0;
    if (!changing || (!expanded && !expanding)) return run;
    const known = faces.get(game.id);
    if (known !== undefined) return known;
    const isOutput = level === Level.answer || level === Level.items;
    const kept = isOutput ? program.known.model.program.checkpoints[checkpoint]!.step : last;
    const executions = itemsOf(run);
    const shown = executions[item]!;
    const interior = program.known.model.program.steps.map((_, s) => {
      const own = shown.trace.tensor(s);
      const other = right.item(item).trace.tensor(s);
      return s === kept ? own : prng.pick([own, other, mutated(prng, other)]);
    });
    executions[item] = { ...shown, trace: new Trace(program.known.model.program, interior) };
    const roots = { ...(!isOutput && { traces: run.list }), answer: run.answer };
    const face = heldRun(program, executions, roots);
    faces.set(game.id, face);
    return face;
  };
  return {
    kind,
    right: false,
    root: run.root,
    nodes: submissionOf(run.claimed, arityBits, run.form),
    published: changing || kind === "padding" ? undefined : run,
    answer: (game, now) => workerMove(faceOf(game), stateOf(game), arityBits, now),
  };
}

/** A liar that may stop answering or concede after some moves. */
function sometimesGivingUp(prng: Prng, worker: SoakWorker): SoakWorker {
  const behaviour = prng.below(5);
  if (behaviour > 1) return worker;
  const after = prng.below(6);
  const kind = behaviour === 0 ? "stall" : "concede";
  return { ...worker, answer: (game, now) => (game.moves.length > after ? { kind } : worker.answer(game, now)) };
}
