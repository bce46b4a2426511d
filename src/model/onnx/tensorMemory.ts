import { totalmem } from "node:os";
import { RefuteError } from "../../base/errors.ts";

const MIB = 2 ** 20;

/** The maximum memory of a program's tensors: a WebAssembly memory has at most 2^32 bytes. */
const MAX_MIB = 4096;

/** Returns the default MiB of tensors read or made: 4096, or half of the machine's memory if less. */
export function defaultMib(): number {
  const constrained = process.constrainedMemory();
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(MAX_MIB, Math.max(1, Math.floor(total / 2 / MIB)));
}

/** The tensors of a model take more memory than they may. */
export class ModelSizeError extends RefuteError {
  readonly code = "MODEL_SIZE";
  constructor(source: string, where: string, mib: number) {
    super(`${source}: with ${where} its tensors take more than ${mib} MiB; allow more with --compile-mib (mib)`);
  }
}

/** Counts the bytes of tensors before a reader makes the tensors. */
export class TensorMemory {
  readonly #mib: number;
  #bytes = 0;

  constructor(mib = defaultMib()) {
    this.#mib = mib;
  }

  /**
   * Counts the bytes of one more tensor.
   * @param where the tensor, for messages
   * @throws ModelSizeError if they are too many
   */
  take(bytes: number, source: string, where: string): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#mib * MIB) throw new ModelSizeError(source, where, this.#mib);
  }
}
