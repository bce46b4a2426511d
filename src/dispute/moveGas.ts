import { CHUNK_BYTES, depthOf } from "../program/merkle/sizes.ts";
import { hopOf, submittedHop } from "../chain/market/revealLevels.ts";

/**
 * The gas value of each move: contracts/game/GasSchedule.sol (test/dispute/worstDispute.test.ts checks that both
 * agree).
 */
export const MOVE_GAS = {
  open: 112_000,
  pick: 52_000,
  seam: 6_200,
  level: 800,
  chunk: 60_900,
  expand: 51_500,
  reveal: 46_600,
  child: 1_115,
  headerByte: 40,
} as const;

/** A byte of a revealed chunk: calldata, log and hash. */
const CHUNK_BYTE = 25;

type MoveName = "open" | "reveal" | "pick" | "expand" | "chunk" | "prove";

/** A game from its opening to the proof. */
export type DisputeMoves = { moves: MoveName[]; gas: number };

/**
 * Properties that determine the length of a game over an answer, beyond the properties shared with a game over a trace.
 */
type AnswerShape = {
  /** Outputs of the program. */
  outputs: number;
  /** True if each item has the disputed output. */
  isEach: boolean;
  /** True if items carry state: a disputed output then expands into the run. */
  isCarried: boolean;
};

/** Properties that determine a game's length: the lists on the game's way, and the way of playing. */
export type DisputeShape = {
  /** Items of the run; one if it is left out. */
  items?: number;
  /** Properties of a claim in answer form and the lists below the outputs; undefined for a claim in trace form. */
  answer?: AnswerShape | undefined;
  checkpoints: number;
  /** Steps of the program. */
  steps: number;
  /** Steps of the disputed checkpoint's range. */
  range: number;
  /** Bytes of the disputed tensor. */
  tensorBytes: number;
  /** Gas of the step proof, sent in a separate transaction. */
  proofGas: number;
  headerBytes: number;
  /** log2 of the children in a reveal: the deployment's. */
  arityBits: number;
  chunkBytes?: number;
  /** The challenger holds the worker's trace: picks jump straight down, and the last pick carries the proof. */
  published?: boolean;
};

/**
 * Returns a game's moves by the hop rule and the depths of the lists; without a published trace no player skips a
 * level.
 */
export function disputeMoves(shape: DisputeShape): DisputeMoves {
  const { checkpoints, steps, range, tensorBytes, proofGas, headerBytes, arityBits, published = false } = shape;
  const chunkBytes = shape.chunkBytes ?? CHUNK_BYTES;
  const moves: MoveName[] = [];
  let gas = 0;
  const add = (move: MoveName, cost: number): void => {
    moves.push(move);
    gas += cost;
  };
  const { level } = MOVE_GAS;
  const seam = (siblings: number): number => MOVE_GAS.seam + level * siblings + MOVE_GAS.headerByte * headerBytes;
  const children = (hop: number): number => MOVE_GAS.child * 2 ** hop;
  /** Down a list, by reveals and picks; `shown` levels have been shown already. */
  const goDown = (depth: number, seamGas: number, shown: number): void => {
    let left = depth;
    let known = shown;
    while (left > 0) {
      const hop = known > 0 ? known : hopOf(left, arityBits);
      if (known === 0) add("reveal", MOVE_GAS.reveal + children(hop));
      known = 0;
      left -= hop;
      add("pick", MOVE_GAS.pick + level * hop + (left === 0 ? seamGas : 0));
    }
  };

  const [traceDepth, stepDepth] = [depthOf(checkpoints), depthOf(steps)];
  const toTensor = range === 1;
  const [claimed, ...others] = listsAbove(shape, seam(0), seam(traceDepth + (toTensor ? stepDepth : 0)));
  // The submission shows the first nodes.
  const form = shape.answer === undefined ? "trace" : "answer";
  const first = published ? claimed.depth : submittedHop(claimed.depth, form, arityBits);
  add("open", MOVE_GAS.open + level * first + (first === claimed.depth ? claimed.seam : 0));
  goDown(claimed.depth - first, claimed.seam, 0);
  const expandInto = (depth: number, path: number): number => {
    const hop = hopOf(depth, arityBits);
    add("expand", MOVE_GAS.expand + children(hop) + level * (path - hop));
    return hop;
  };
  for (const { depth, seam: landing, expandedBy } of others)
    goDown(depth, landing, expandedBy === undefined ? 0 : expandInto(depth, expandedBy));
  if (!toTensor) {
    const depth = depthOf(range);
    const hop = expandInto(depth, depth);
    if (!published) goDown(depth, seam(stepDepth), hop);
  }
  if (!published) {
    goDown(depthOf(Math.ceil(tensorBytes / chunkBytes)), 0, 0);
    add("chunk", MOVE_GAS.chunk + CHUNK_BYTE * (chunkBytes - CHUNK_BYTES));
  }
  add("prove", proofGas);
  return { moves, gas };
}

/** A list above the ranges: the list's depth, the gas for landing on a leaf, and the path for the list's expansion. */
type ListAbove = { depth: number; seam: number; expandedBy?: number };

/**
 * Returns the lists that a game passes before reaching a checkpoint.
 * @param header Gas for a landing that brings only the header.
 * @param checkpoint Gas for landing on a trace's leaf.
 */
function listsAbove(
  { items = 1, checkpoints, answer }: DisputeShape,
  header: number,
  checkpoint: number,
): [ListAbove, ...ListAbove[]] {
  const [traceDepth, runDepth] = [depthOf(checkpoints), depthOf(items)];
  const run: ListAbove = { depth: runDepth, seam: 0 };
  const trace: ListAbove = { depth: traceDepth, seam: checkpoint };
  let lists: ListAbove[];
  if (answer === undefined) lists = items === 1 ? [trace] : [run, trace];
  else {
    const outputs: ListAbove = { depth: depthOf(answer.outputs), seam: header };
    const ofItems = answer.isEach && items > 1 ? [{ ...run }] : [];
    const expanded =
      answer.isCarried && items > 1
        ? [{ ...run, expandedBy: traceDepth + runDepth }, trace]
        : [{ ...trace, expandedBy: traceDepth }];
    lists = [outputs, ...ofItems, ...expanded];
  }
  // A trace with one checkpoint sits as a leaf in the list above.
  if (traceDepth === 0 && lists.length > 1) {
    lists.pop();
    lists.at(-1)!.seam = checkpoint;
  }
  return lists as [ListAbove, ...ListAbove[]];
}
