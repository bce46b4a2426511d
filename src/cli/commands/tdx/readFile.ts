import { readRegularFile } from "../../../base/regularFile.ts";

/** The bytes of a file. */
export function readFile(
  path: string,
  maxBytes: number,
  Refusal: new (what: string, options?: ErrorOptions) => Error,
): Uint8Array {
  try {
    return readRegularFile(path, maxBytes);
  } catch (cause) {
    throw new Refusal(`${path} cannot be read: it ${(cause as Error).message}`, { cause });
  }
}
