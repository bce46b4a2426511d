import { CHUNK_BYTES, depthOf } from "../merkle/sizes.ts";
import { hopOf } from "../market/hop.ts";

/** What moves are worth: contracts/game/GasSchedule.sol (test/dispute/worstDispute.test.ts holds them to it). */
export const MOVE_GAS = {
  open: 111_500,
  pick: 51_600,
  seam: 6_200,
  level: 800,
  chunk: 60_500,
  expand: 49_400,
  reveal: 46_200,
  child: 1_115,
  headerByte: 40,
} as const;

/** A byte of a revealed chunk: calldata, log and hash. */
const CHUNK_BYTE = 25;

export type MoveName = "open" | "reveal" | "pick" | "expand" | "chunk" | "prove";

/** A game from its opening to the proof. */
export type DisputeMoves = { moves: MoveName[]; gas: number };

/** What the length of a game follows from: the lists that it goes through, and how it is played. */
export type DisputeShape = {
  /** Items of the run; one if it is left out. */
  items?: number;
  checkpoints: number;
  /** Steps of the program. */
  steps: number;
  /** Steps of the disputed checkpoint's range. */
  range: number;
  /** Bytes of the disputed tensor. */
  tensorBytes: number;
  /** Of the step proof, as a transaction of its own. */
  proofGas: number;
  headerBytes: number;
  /** log2 of the children in a reveal: the deployment's. */
  arityBits: number;
  chunkBytes?: number;
  /** The challenger holds the worker's trace: its picks jump straight down, the last one with the proof. */
  published?: boolean;
};

/** The moves of a game by the hop rule and the depths of its lists; without a published trace nobody skips a level. */
export function disputeMoves(shape: DisputeShape): DisputeMoves {
  const {
    items = 1,
    checkpoints,
    steps,
    range,
    tensorBytes,
    proofGas,
    headerBytes,
    arityBits,
    published = false,
  } = shape;
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
  const traceSeam = seam(traceDepth + (toTensor ? stepDepth : 0));
  const runDepth = depthOf(items);
  const claimed =
    items === 1 ? { depth: traceDepth, seam: traceSeam } : { depth: runDepth, seam: traceDepth === 0 ? traceSeam : 0 };
  // The submission shows the first nodes.
  const first = published ? claimed.depth : hopOf(claimed.depth, arityBits);
  add("open", MOVE_GAS.open + level * first + (first === claimed.depth ? claimed.seam : 0));
  goDown(claimed.depth - first, claimed.seam, 0);
  if (items > 1) goDown(traceDepth, traceSeam, 0);
  if (!toTensor) {
    const depth = depthOf(range);
    const hop = hopOf(depth, arityBits);
    add("expand", MOVE_GAS.expand + children(hop) + level * (depth - hop));
    if (!published) goDown(depth, seam(stepDepth), hop);
  }
  if (!published) {
    goDown(depthOf(Math.ceil(tensorBytes / chunkBytes)), 0, 0);
    add("chunk", MOVE_GAS.chunk + CHUNK_BYTE * (chunkBytes - CHUNK_BYTES));
  }
  add("prove", proofGas);
  return { moves, gas };
}
