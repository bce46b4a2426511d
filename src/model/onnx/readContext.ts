import type { RefuteError } from "../../base/errors.ts";
import type { TensorMemory } from "./tensorMemory.ts";

/** The context of a reader: the model's name for messages, and the folder of external data. */
export type ReadContext = {
  source: string;
  externalDataDir: string | undefined;
  /** Counts the bytes of all tensors read. */
  memory: TensorMemory;
  /** For sequence inputs, the number of tensors; for optional inputs, 1 if given and 0 if not. */
  lengths?: Readonly<Record<string, number>> | undefined;
  /** Receives the path of each external data file, once for each tensor read from the file. */
  externalFile?: ((path: string) => void) | undefined;
  /** If given, refused parts are left out. Receives the error and the names that the part would have given. */
  refused?: (error: RefuteError, names: readonly string[]) => void;
};
