import { fromHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { HASH_BYTES } from "../merkle/sizes.ts";
import { tensorRoot } from "../merkle/tensor.ts";
import { concatenated } from "../merkle/concatenated.ts";
import type { Program } from "../types.ts";

/** The program facts that decide which tensors form the outputs in a run. */
type Outputs = Pick<Program, "outputs" | "each">;

/** Whether every item of a run has the output; else only the last one has it. */
export const isOfEachItem = ({ each = [] }: Outputs, output: number): boolean => each.includes(output);

/** Returns how many tensors form an output in a run with `items` items: one per item, or only the last item's. */
export const outputTensors = (program: Outputs, output: number, items: number): number =>
  isOfEachItem(program, output) ? items : 1;

/**
 * The outputs of a run, committed to by a claim in answer form: the list of output roots. If each item has the output,
 * the output's root is the root over the list of the items' tensor roots; otherwise the last item's tensor root.
 */
export class Answer {
  /** The tensor roots for each output, in item order; for the last item's outputs, one root each. */
  readonly outputs: readonly MerkleList[];
  #list: MerkleList | undefined;

  /** @param outputs The items' tensor roots for each program output; at least one output. */
  constructor(outputs: readonly MerkleList[]) {
    this.outputs = outputs;
  }

  /**
   * Makes an answer from the outputs themselves.
   * @param tensors For each output, the items' tensors: canonical bytes.
   */
  static ofTensors(tensors: readonly (readonly Uint8Array[])[]): Answer {
    return new Answer(tensors.map((ofItems) => MerkleList.fromHashes(ofItems.map(tensorRoot))));
  }

  /** An answer from the tensor roots of {@link answerLeaves}, concatenated. */
  static ofRoots(program: Outputs, items: number, roots: Uint8Array): Answer {
    let at = 0;
    return new Answer(
      program.outputs.map((_, output) => {
        const bytes = outputTensors(program, output, items) * HASH_BYTES;
        return new MerkleList(roots.subarray(at, (at += bytes)));
      }),
    );
  }

  /** The list of the outputs' roots. */
  get list(): MerkleList {
    return (this.#list ??= new MerkleList(concatenated(this.outputs.map(({ root }) => fromHash(root)))));
  }

  /** The root that a claim contains. */
  get root(): Hash {
    return this.list.root;
  }

  /** Roughly the bytes of memory that it takes. */
  get bytes(): number {
    return this.outputs.reduce((sum, { bytes }) => sum + bytes, this.#list?.bytes ?? 0);
  }

  /** Opens an item's tensor of an output, lowest first. @param item Of the run; the last one has every output. */
  path(output: number, item: number): Hash[] {
    const items = this.outputs[output]!;
    return [...items.path(items.width === 1 ? 0 : item), ...this.list.path(output)];
  }
}

/** Returns the number of tensor roots in an answer: for each output, a root per item with the output. */
export const answerLeaves = (program: Outputs, items: number): number =>
  program.outputs.reduce((sum, _, output) => sum + outputTensors(program, output, items), 0);
