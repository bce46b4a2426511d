import type { RefuteError } from "../../base/errors.ts";
import type { TensorMemory } from "./tensorMemory.ts";

/** The context of a reader: the model's name for messages, and the folder of external data. */
export type ReadContext = {
  source: string;
  externalDataDir: string | undefined;
  /** Counts the bytes of all tensors that are read. */
  memory: TensorMemory;
  /** Of inputs that are sequences, how many tensors they have; of optional ones, whether they are given: 1 or 0. */
  lengths?: Readonly<Record<string, number>> | undefined;
  /** Called with the path of each file of external data that is read, once a tensor. */
  externalFile?: ((path: string) => void) | undefined;
  /**
   * Where given, a part that is refused is left out: it is called with the error and the names that the part would have
   * given.
   */
  refused?: (error: RefuteError, names: readonly string[]) => void;
};
