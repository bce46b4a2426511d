import { toHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { isZeros, tensorRoot, tensorTree, zeroRoot } from "../merkle/tensor.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { RunLength } from "../run.ts";
import type { ProgramInput } from "../types.ts";
import { RefuteError } from "../../base/errors.ts";

/** A job's input bytes do not have the length that its program and items require. */
export class RunInputError extends RefuteError {
  readonly code = "RUN_INPUT";
}

/** The index is an int64. */
const INDEX_BYTES = 8;
const NOTHING: Hash = toHash(new Uint8Array(32));

/**
 * The inputs of a job: the inputs for each item in the run, and the job's commitment to the inputs. If each item has
 * its own tensor, the input's bytes are all items' bytes in order; an index input has no bytes.
 */
export class RunInputs {
  readonly length: RunLength;
  readonly #inputs: readonly ProgramInput[];
  readonly #bytes: readonly Uint8Array[];
  /** For each input with a separate tensor per item, the list of tensor roots. */
  readonly #lists = new Map<number, MerkleList>();
  #roots: readonly Hash[] | undefined;
  #list: MerkleList | undefined;

  /**
   * @param inputs The program's inputs.
   * @param bytes The bytes of each input: little-endian, row-major.
   * @param roots The job's root for each input, if the bytes are known to have this root.
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

  /** The bytes of each job input. */
  get bytes(): readonly Uint8Array[] {
    return this.#bytes;
  }

  /** Bytes of memory that the inputs take. */
  get size(): number {
    return this.#bytes.reduce((sum, { length }) => sum + length, 0);
  }

  /** The job's root for each input: the tensor root, the root of the list of the items' tensors, or zero. */
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

  /** Returns the posted tensors of an input: none for the index, nor for carried state that begins with zeros. */
  posted(k: number): readonly Uint8Array[] {
    return this.#inputs[k]!.source?.kind === "carried" && isZeros(this.#bytes[k]!) ? [] : this.tensors(k);
  }

  /** Returns the job's tensors that form an input. */
  tensors(k: number): readonly Uint8Array[] {
    const bytes = bytesOf(this.#inputs[k]!);
    const count = tensorsOf(this.#inputs[k]!, this.length.items);
    return Array.from({ length: count }, (_, i) => this.#bytes[k]!.subarray(i * bytes, (i + 1) * bytes));
  }

  /**
   * Returns all inputs of an item.
   * @param carried The tensors taken from the previous item, by input; none for the first item.
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
   * Returns the inputs for some consecutive items, in the form for a separate run.
   * @param carried The tensors that the first selected item takes from the previous item, by input; none for the
   *   run's first item.
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

/** Returns how many tensors form an input in a job with `items` items. */
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
