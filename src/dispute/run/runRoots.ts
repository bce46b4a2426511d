import { fromHash } from "../../program/merkle/hash.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import type { Program } from "../../program/types.ts";
import { Answer, answerLeaves, isOfEachItem, outputTensors } from "../../program/trace/answer.ts";
import type { Trace } from "../../program/trace/trace.ts";

/** The stored roots of an executed run: the items' trace roots, and the outputs' roots. */
export type RunRoots = { traces: MerkleList; answer: Answer };

type Outputs = Pick<Program, "outputs" | "each">;

/** Bytes of the roots of a run: see {@link RootsOfItems}. */
export const rootBytes = (program: Outputs, items: number): number =>
  (items + answerLeaves(program, items)) * HASH_BYTES;

/** Reads a run's roots from the bytes collected by {@link RootsOfItems}. */
export function readRunRoots(program: Outputs, items: number, bytes: Uint8Array): RunRoots {
  const at = items * HASH_BYTES;
  const traces = new MerkleList(bytes.subarray(0, at));
  return { traces, answer: Answer.ofRoots(program, items, bytes.subarray(at)) };
}

/** Collects a run's roots while the items are executed: first the traces' roots, then each output's roots. */
export class RootsOfItems {
  readonly #program: Outputs;
  readonly #items: number;
  readonly bytes: Uint8Array;

  constructor(program: Outputs, items: number) {
    [this.#program, this.#items] = [program, items];
    this.bytes = new Uint8Array(rootBytes(program, items));
  }

  /** Takes the roots of an item. Items may come in any order. */
  take(item: number, trace: Trace): void {
    this.takeTrace(item, trace.list);
  }

  /** The same from the list of a trace. */
  takeTrace(item: number, list: MerkleList): void {
    const put = (index: number, root: `0x${string}`): void => this.bytes.set(fromHash(root), index * HASH_BYTES);
    put(item, list.root);
    let at = this.#items;
    this.#program.outputs.forEach((checkpoint, output) => {
      const root = list.node(0, checkpoint);
      if (isOfEachItem(this.#program, output)) put(at + item, root);
      else if (item === this.#items - 1) put(at, root);
      at += outputTensors(this.#program, output, this.#items);
    });
  }

  /**
   * Takes the roots of consecutive items.
   * @param bytes The collected roots of the items, in a run's format.
   */
  takeItems(from: number, items: number, bytes: Uint8Array): void {
    let [read, at] = [0, 0];
    const copy = (count: number, index: number): void => {
      this.bytes.set(bytes.subarray(read * HASH_BYTES, (read + count) * HASH_BYTES), index * HASH_BYTES);
    };
    copy(items, from);
    [read, at] = [items, this.#items];
    this.#program.outputs.forEach((_, output) => {
      const isEach = isOfEachItem(this.#program, output);
      if (isEach) copy(items, at + from);
      else if (from + items === this.#items) copy(1, at);
      read += outputTensors(this.#program, output, items);
      at += outputTensors(this.#program, output, this.#items);
    });
  }

  /** The roots, once all items were taken. */
  get roots(): RunRoots {
    return readRunRoots(this.#program, this.#items, this.bytes);
  }
}

/** Returns the roots of a run from the items' traces. */
export function rootsOfTraces(program: Outputs, traces: readonly Trace[]): RunRoots {
  const collected = new RootsOfItems(program, traces.length);
  traces.forEach((trace, item) => collected.take(item, trace));
  return collected.roots;
}
