import { FileError, readRegularFile } from "../../base/regularFile.ts";
import { parseAddressFile, type AddressFile } from "./addressFile.ts";
import { AddressFileError } from "./errors.ts";

const MAX_BYTES = 1_000_000;

/** Reads an address file from disk. @throws AddressFileError that names the file */
export function readAddressFile(path: string): AddressFile {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(readRegularFile(path, MAX_BYTES)));
  } catch (cause) {
    const what = cause instanceof FileError ? cause.message : `is no JSON document: ${(cause as Error).message}`;
    throw new AddressFileError(`${path}: the address file ${what}`, { cause });
  }
  return parseAddressFile(value, path);
}
