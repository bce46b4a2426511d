import { toHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { isZeros, tensorRoot, tensorTree, zeroRoot } from "../merkle/tensor.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { RunLength } from "../run.ts";
import type { ProgramInput } from "../types.ts";
import { RefuteError } from "../../base/errors.ts";

/** The bytes of a job's inputs are not as many as its program and its items take. */
export class RunInputError extends RefuteError {
  readonly code = "RUN_INPUT";
}

/** The index is an int64. */
const INDEX_BYTES = 8;
const NOTHING: Hash = toHash(new Uint8Array(32));

/**
 * The inputs of a job: what each item of its run takes of them, and what the job commits to. Of an input of which each
 * item has its own tensor, the bytes are those of all items in order; of the index there are none.
 */
export class RunInputs {
  readonly length: RunLength;
  readonly #inputs: readonly ProgramInput[];
  readonly #bytes: readonly Uint8Array[];
  /** For each input of which every item has its own tensor, the list of their roots. */
  readonly #lists = new Map<number, MerkleList>();
  #roots: readonly Hash[] | undefined;
  #list: MerkleList | undefined;

  /**
   * @param inputs Those of the program.
   * @param bytes Of each input: little-endian, row-major.
   * @param roots What the job names of each input, where these bytes are known to have it.
   * @throws RunInputError
   */
  constructor(
    inputs: readonly ProgramInput[],
    length: RunLength,
    bytes: readonly Uint8Array[],
    roots?: readonly Hash[],
  ) {
    [this.#inputs, this.length, this.#bytes, this.#roots] = [inputs, length, bytes, roots];
    if (bytes.length !== inputs.length)
      throw new RunInputError(`the program takes ${inputs.length} inputs, got ${bytes.length}`);
    inputs.forEach((input, k) => {
      const expected = tensorsOf(input, length.items) * bytesOf(input);
      if (bytes[k]!.length !== expected)
        throw new RunInputError(
          `input ${k} has ${bytes[k]!.length} bytes, expected ${expected} for ${length.items} items`,
        );
    });
  }

  /** The bytes of each input, as the job has them. */
  get bytes(): readonly Uint8Array[] {
    return this.#bytes;
  }

  /** Bytes of memory that the inputs take. */
  get size(): number {
    return this.#bytes.reduce((sum, { length }) => sum + length, 0);
  }

  /** What the job names of each input: its tensor root, the root of the list of the items' tensors, or zero. */
  get roots(): readonly Hash[] {
    return (this.#roots ??= this.#inputs.map((input, k) => {
      if (input.source?.kind === "index") return NOTHING;
      if (input.source?.kind === "each") return this.#tensors(k).root;
      // State that begins with zeros costs nobody anything to post, and so nothing to look at.
      return this.posted(k).length === 0 ? zeroRoot(this.#bytes[k]!.length) : tensorRoot(this.#bytes[k]!);
    }));
  }

  /** The list of these roots. @throws RangeError for a program without inputs */
  get list(): MerkleList {
    return (this.#list ??= MerkleList.fromHashes(this.roots));
  }

  /** The tensors of an input that are posted: none of the index, nor of state that is carried and begins with zeros. */
  posted(k: number): readonly Uint8Array[] {
    return this.#inputs[k]!.source?.kind === "carried" && isZeros(this.#bytes[k]!) ? [] : this.tensors(k);
  }

  /** The tensors of the job that make up an input. */
  tensors(k: number): readonly Uint8Array[] {
    const bytes = bytesOf(this.#inputs[k]!);
    const count = tensorsOf(this.#inputs[k]!, this.length.items);
    return Array.from({ length: count }, (_, i) => this.#bytes[k]!.subarray(i * bytes, (i + 1) * bytes));
  }

  /**
   * All inputs of an item.
   * @param carried The tensors that it takes from the item before, by input; for the first item none.
   */
  of(item: number, carried: ReadonlyMap<number, Uint8Array> = new Map()): Uint8Array[] {
    return this.#inputs.map((input, k) => {
      switch (input.source?.kind) {
        case "each":
          return this.#bytes[k]!.subarray(item * bytesOf(input), (item + 1) * bytesOf(input));
        case "index":
          return indexBytes(this.length.firstItem + item);
        case "carried":
          return carried.get(k) ?? this.#bytes[k]!;
        default:
          return this.#bytes[k]!;
      }
    });
  }

  /**
   * The inputs of some items that follow each other, as of a run of their own.
   * @param carried What the first of them takes from the item before, by input; for the first item of all none.
   */
  part(from: number, items: number, carried: ReadonlyMap<number, Uint8Array>): RunInputs {
    const bytes = this.#inputs.map((input, k) => {
      if (input.source?.kind !== "each") return carried.get(k) ?? this.#bytes[k]!;
      return this.#bytes[k]!.subarray(from * bytesOf(input), (from + items) * bytesOf(input));
    });
    return new RunInputs(this.#inputs, { items, firstItem: this.length.firstItem + from }, bytes);
  }

  /** Opens an item's tensor of an input under the job's inputs root, or the one that the first item begins with. */
  path(k: number, item: number): Hash[] {
    const below = this.#inputs[k]!.source?.kind === "each" ? this.#tensors(k).path(item) : [];
    return [...below, ...this.list.path(k)];
  }

  #tensors(k: number): MerkleList {
    let list = this.#lists.get(k);
    if (list === undefined) {
      list = MerkleList.fromHashes(this.tensors(k).map((tensor) => tensorTree(tensor).root));
      this.#lists.set(k, list);
    }
    return list;
  }
}

/** Tensors of a job of `items` items that make up an input. */
export function tensorsOf({ source }: Pick<ProgramInput, "source">, items: number): number {
  if (source?.kind === "index") return 0;
  return source?.kind === "each" ? items : 1;
}

/** Bytes of an input: of one tensor of it. */
export const bytesOf = ({ dtype, count }: Pick<ProgramInput, "dtype" | "count">): number => count * dtypeBytes(dtype);

function indexBytes(index: number): Uint8Array {
  const bytes = new Uint8Array(INDEX_BYTES);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(index), true);
  return bytes;
}
