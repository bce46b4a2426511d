import { hexToBytes, keccak256, type Hex } from "viem";
import { errorWithCode } from "../base/errors.ts";
import type { KnownProgram } from "./run/execution.ts";
import type { WorkerMove } from "./workerMove.ts";
import type { ClaimForm } from "../chain/market/claimForm.ts";
import type { MoveRecord } from "../chain/market/history.ts";
import type { GameState } from "../chain/market/state.ts";
import { Level, Move, Side, ZERO_HASH, type Pick, type StepProof } from "../chain/structs.ts";
import { fromHash, sha256, toHash, zeroHash, type Hash } from "../program/merkle/hash.ts";
import { depthOf } from "../program/merkle/sizes.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import type { Program } from "../program/types.ts";

/** A move that the rules do not allow. */
class RefusedMoveError extends errorWithCode("MOVE_REFUSED") {}

/**
 * A dispute game in memory: the rules of movement (contracts/game/Descent.sol), without money or time. The page plays
 * such a game without a chain, and tests play strategies fast. Each move that tests play on chain with
 * `testkit/protocol/runGame.ts` is played here too, and leads to the contract's state.
 */
export class MemoryGame {
  readonly moves: MoveRecord[] = [];
  #state: GameState;

  readonly #program: Program;

  /** @param items Number of items in the claimed run. */
  constructor(program: KnownProgram, root: Hash, pick: Pick, items = 1, form: ClaimForm = "trace") {
    this.#program = program.model.program;
    const { checkpoints, outputs } = this.#program;
    const account = `0x${"00".repeat(20)}` as const;
    this.#state = {
      claimId: ZERO_HASH,
      programRoot: program.model.programRoot,
      challenger: account,
      node: root,
      runRoot: ZERO_HASH,
      traceRoot: ZERO_HASH,
      interiorRoot: ZERO_HASH,
      index: 0,
      width: items,
      number: 0,
      move: Move.open,
      depth: depthOf(items),
      level: Level.run,
      turn: Side.worker,
      first: 0,
      last: 0,
      step: 0,
      tailBytes: 0,
      workerSeconds: 100,
      challengerSeconds: 100,
      since: 0,
      bond: 0n,
      spent: 0n,
      item: 0,
      checkpoints: checkpoints.length,
    };
    if (form === "answer") this.#enterList(Level.answer, outputs.length);
    else if (items === 1) this.#enterTrace();
    this.#descend(pick);
    if (form === "answer") this.#enterOutput(pick, items);
    this.#record(Move.open, "0x");
  }

  get state(): GameState {
    return this.#state;
  }

  /** Plays a worker's move. @throws RefusedMoveError */
  answer(move: WorkerMove): void {
    const s = this.#state;
    this.#require(s.turn === Side.worker, "not the worker's turn");
    if (move.kind === "reveal") {
      if (s.depth === 0) {
        this.#require(s.level === Level.tensor, "nothing to reveal");
        const chunk = hexToBytes(move.data);
        this.#require(chunk.length === 512 && toHash(sha256(chunk)) === s.node, "not the chunk");
        const tail = s.index === s.width - 1 ? s.tailBytes : 512;
        this.#require(
          chunk.subarray(tail).every((byte) => byte === 0),
          "padding of the chunk",
        );
      } else {
        this.#require(this.#parent(s, s.depth, move.data) === s.node, "not the node's children");
      }
      this.#state = { ...s, turn: Side.challenger };
      this.#record(Move.reveal, move.data);
    } else {
      this.#require(move.kind === "expand", `the worker does not move: ${move.kind}`);
      if (move.kind === "expand") this.#expand(s, move.children, move.siblings);
    }
  }

  /** Plays a challenger's pick. @throws RefusedMoveError */
  pick(pick: Pick): void {
    this.#require(this.#state.turn === Side.challenger, "not the challenger's turn");
    this.#require(pick.siblings.length > 0, "a pick without a path");
    this.#descend(pick);
    this.#state = { ...this.#state, turn: Side.worker };
    this.#record(Move.pick, "0x");
  }

  /**
   * Checks a step proof against the worker's lists.
   * @param size Bytes of an element.
   * @returns The claimed bytes of the element
   * @throws RefusedMoveError
   */
  claimedBy(proof: StepProof, size: number): bigint {
    const s = this.#state;
    const chunk = hexToBytes(proof.chunk);
    this.#require(toHash(sha256(chunk)) === s.node && s.depth === 0, "not the chunk");
    const at = (Number(proof.element) * size) % 512;
    this.#require(Math.floor((Number(proof.element) * size) / 512) === Number(s.index), "not in the chunk");
    proof.inputs.forEach(({ root, siblings, checkpointIndex, checkpoint }, k) => {
      // The in-memory game does not know the job's inputs.
      if (this.#program.steps[s.step]!.inputs[k]!.kind !== "step" || siblings.length === 0) return;
      const inside = checkpoint.siblings.length === 0 && checkpoint.step === 0 && s.interiorRoot !== ZERO_HASH;
      const index = inside ? this.#indexUnder(root, siblings, s.interiorRoot) : checkpointIndex;
      const top = inside ? s.interiorRoot : s.traceRoot;
      this.#require(fold(root, index, siblings) === top, `input ${k} is not proven`);
    });
    return chunk.subarray(at, at + size).reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n);
  }

  /** A position at which the path leads to the root. */
  #indexUnder(leaf: Hash, siblings: readonly Hex[], root: Hash): number {
    for (let index = 0; index < 2 ** siblings.length; index++) {
      if (fold(leaf, index, siblings) === root) return index;
    }
    return 0;
  }

  #descend(pick: Pick): void {
    const s = this.#state;
    const levels = pick.siblings.length;
    this.#require(levels <= s.depth, "path too long");
    this.#require(Number(pick.index >> BigInt(levels)) === s.index, "not below the node");
    this.#require(s.level !== Level.answer || levels === s.depth, "above an output");
    const depth = s.depth - levels;
    this.#require(Number(pick.index << BigInt(depth)) < s.width, "past the width");
    const low = Number(pick.index & ((1n << BigInt(levels)) - 1n));
    this.#require(fold(pick.node, low, pick.siblings) === s.node, "not under the node");
    this.#state = { ...s, node: pick.node, index: Number(pick.index), depth };
    if (depth > 0 || s.level === Level.tensor || s.level === Level.answer) return;
    // A run's leaf is a trace root. A trace with a single checkpoint is a leaf.
    if (s.level === Level.run || s.level === Level.items) {
      this.#state = { ...this.#state, item: this.#state.index };
      if (s.level === Level.run || s.checkpoints === 1) this.#enterTrace();
    }
    if (this.#state.depth > 0 || this.#state.level === Level.items) return;
    this.#cross(pick);
  }

  /** Moves from an answer's leaf to the leaf's output. */
  #enterOutput(pick: Pick, items: number): void {
    const { each = [], inputs, outputs } = this.#program;
    const output = this.#state.index;
    this.#require(pick.program.header !== "0x", "an output needs the program");
    this.#state = { ...this.#state, step: outputs[output]! };
    if (items > 1 && each.includes(output)) return this.#enterList(Level.items, items);
    this.#state = { ...this.#state, item: items - 1 };
    if (items > 1 && inputs.some(({ source }) => source?.kind === "carried")) return;
    this.#enterList(Level.items, 1);
    if (this.#state.checkpoints > 1) return;
    this.#enterTrace();
    this.#cross(pick);
  }

  /** Crosses from a leaf in a trace or in a range. */
  #cross(pick: Pick): void {
    const s = this.#state;
    this.#require(pick.program.header !== "0x", "a leaf needs the program");
    if (s.level === Level.interior) return this.#enterTensor(pick, s.first + s.index);
    const { first, step } = pick.checkpoint;
    this.#state = { ...this.#state, first, last: step };
    if (first === step) this.#enterTensor(pick, step);
  }

  /** Takes the current node for the root of an item's trace. */
  #enterTrace(): void {
    this.#state = { ...this.#state, traceRoot: this.#state.node };
    this.#enterList(Level.trace, this.#state.checkpoints);
  }

  #enterList(level: Level, width: number): void {
    this.#state = { ...this.#state, level, index: 0, width, depth: depthOf(width) };
  }

  #enterTensor({ step: { count } }: Pick, step: number): void {
    const bytes = Number(count) * dtypeBytes(this.#program.steps[step]!.dtype);
    this.#require(bytes > 0, "a tensor needs its step");
    const width = Math.ceil(bytes / 512);
    this.#state = { ...this.#state, step, tailBytes: bytes - (width - 1) * 512 };
    this.#enterList(Level.tensor, width);
  }

  #expand(s: GameState, children: Hex, siblings: readonly Hash[]): void {
    this.#require(s.depth === 0 && s.level <= Level.trace, "nothing to expand");
    const shown = (level: Level, width: number, index: number, leaf: Hash, path: readonly Hash[]): Hash => {
      this.#enterList(level, width);
      const node = this.#parent(this.#state, this.#state.depth, children);
      const below = path.length;
      const child = words(children)[Math.floor(index / 2 ** below)]!;
      this.#require(fold(leaf, index % 2 ** below, path) === child, "the list does not hold the leaf");
      this.#state = { ...this.#state, node, turn: Side.challenger };
      return node;
    };
    if (s.level === Level.answer) {
      const levels = depthOf(s.checkpoints);
      const trace = fold(s.node, s.step, siblings.slice(0, levels));
      const runRoot = shown(Level.run, s.item + 1, s.item, trace, siblings.slice(levels));
      this.#state = { ...this.#state, runRoot };
    } else if (s.level === Level.items) {
      const traceRoot = shown(Level.trace, s.checkpoints, s.step, s.node, siblings);
      this.#state = { ...this.#state, traceRoot };
    } else {
      const width = s.last - s.first + 1;
      const interiorRoot = shown(Level.interior, width, width - 1, s.node, siblings);
      this.#state = { ...this.#state, interiorRoot };
    }
    this.#record(Move.expand, children);
  }

  #parent(s: GameState, depth: number, data: Hex): Hash {
    let nodes = words(data);
    const hop = Math.log2(nodes.length);
    this.#require(Number.isInteger(hop) && hop <= depth, "wrong number of children");
    const height = depth - hop;
    nodes.forEach((node, k) => {
      const past = (Number(s.index) * 2 ** hop + k) * 2 ** height >= Number(s.width);
      this.#require(!past || node === toHash(zeroHash(height)), "padding");
    });
    while (nodes.length > 1) {
      nodes = nodes.flatMap((node, k) =>
        k % 2 === 0 ? [toHash(sha256(fromHash(node), fromHash(nodes[k + 1]!)))] : [],
      );
    }
    return nodes[0]!;
  }

  #record(move: Move, data: Hex): void {
    this.#state = { ...this.#state, move };
    this.moves.push({ move, state: this.#state, data, transactionHash: keccak256(data) });
  }

  /** @throws RefusedMoveError */
  #require(condition: boolean, refusal: string): void {
    if (!condition) throw new RefusedMoveError(`refused: ${refusal}`);
  }
}

const words = (data: Hex): Hash[] =>
  Array.from({ length: (data.length - 2) / 64 }, (_, k) => `0x${data.slice(2 + 64 * k, 66 + 64 * k)}` as const);

function fold(leaf: Hash, index: number, siblings: readonly Hash[]): Hash {
  let node = fromHash(leaf);
  siblings.forEach((sibling, k) => {
    const pair = [node, fromHash(sibling)];
    node = sha256(...(Math.floor(index / 2 ** k) % 2 === 0 ? pair : pair.reverse()));
  });
  return toHash(node);
}
