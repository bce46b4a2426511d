import { fromHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { HASH_BYTES } from "../merkle/sizes.ts";
import { tensorRoot } from "../merkle/tensor.ts";
import { concatenated } from "../merkle/concatenated.ts";
import type { Program } from "../types.ts";

/** What of a program decides which tensors its outputs consist of in a run. */
type Outputs = Pick<Program, "outputs" | "each">;

/** Whether every item of a run has the output; else only the last one has it. */
export const isOfEachItem = ({ each = [] }: Outputs, output: number): boolean => each.includes(output);

/** Tensors of a run of `items` items that an output consists of: one of each item, or that of the last item. */
export const outputTensors = (program: Outputs, output: number, items: number): number =>
  isOfEachItem(program, output) ? items : 1;

/**
 * The outputs of a run, as a claim in answer form commits to them: the list of the outputs' roots. The root of an
 * output that each item has is that of the list of the items' tensor roots, of another one the tensor root of the last
 * item's.
 */
export class Answer {
  /** For each output the tensor roots of its items, in their order; of an output of the last item alone, one. */
  readonly outputs: readonly MerkleList[];
  #list: MerkleList | undefined;

  /** @param outputs For each output of the program the tensor roots of its items; at least one output. */
  constructor(outputs: readonly MerkleList[]) {
    this.outputs = outputs;
  }

  /** An answer from the outputs themselves. @param tensors For each output those of its items: canonical bytes. */
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

  /** What a claim says. */
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

/** The number of tensor roots that an answer holds: of each output those of its items. */
export const answerLeaves = (program: Outputs, items: number): number =>
  program.outputs.reduce((sum, _, output) => sum + outputTensors(program, output, items), 0);
