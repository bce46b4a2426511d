import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { isHex, type Hex } from "viem";
import { z } from "zod/v4";
import { readRegularFile } from "../base/regularFile.ts";
import { createWholeSync } from "../base/writeWhole.ts";
import { StandInFileError } from "./errors.ts";
import { generateKey, keyFromPem, keyToPem, manufacturerId, type P256Key } from "./keys.ts";
import { SoftwareManufacturer } from "./manufacturer.ts";
import { folderProblem, writeProblem } from "../base/writable.ts";

/** The maximum bytes of a stand-in's file: it has some 1,000. */
const MAX_BYTES = 2 ** 20;
/** Only the owner reads and writes a stand-in's file. */
const OWNER_ONLY = 0o600;

/** 32 bytes in hexadecimal. */
export const word = z.custom<Hex>((value) => isHex(value) && value.length === 66);
/** A point of the curve. */
export const point = z.object({ x: word, y: word }).strict();
export const signature = z.object({ r: word, s: word }).strict();
/** An integer of 64 bits as decimal text. */
export const uint64 = z
  .string()
  .regex(/^\d{1,20}$/, { abort: true })
  .transform(BigInt)
  .refine((value) => value < 1n << 64n);
const manufacturerSchema = z.object({ standIn: z.literal("manufacturer"), privateKey: z.string() }).strict();

/**
 * Makes the file of a stand-in for a manufacturer.
 * @returns Its id, for a deployment's `manufacturers`.
 * @throws StandInFileError
 */
export function makeManufacturer(path: string): Hex {
  const key = generateKey();
  createFile(path, { standIn: "manufacturer", privateKey: keyToPem(key) });
  return manufacturerId(key);
}

/** Writes a known manufacturer's file, or replaces a file. @param privateKey PKCS #8 PEM. @throws StandInFileError */
export const keepManufacturer = (path: string, privateKey: string): void =>
  replaceFile(path, { standIn: "manufacturer", privateKey });

/** The manufacturer of a file of `makeManufacturer`. @throws StandInFileError */
export function openManufacturer(path: string): SoftwareManufacturer {
  const { privateKey } = readStandIn(path, manufacturerSchema, "manufacturer");
  return new SoftwareManufacturer(parseKey(path, privateKey));
}

/** Reads a stand-in's file. @param kind Of the command that makes it. @throws StandInFileError */
export function readStandIn<T>(path: string, schema: z.ZodType<T, unknown>, kind: string): T {
  let json: unknown;
  try {
    json = JSON.parse(readText(path));
  } catch (cause) {
    // JSON.parse quotes the faulty text. Neither the error's message nor the error itself may reach an output.
    if (cause instanceof SyntaxError) throw new StandInFileError(path, `not JSON, so no stand-in ${kind}`);
    throw cause;
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const where = result.error.issues.map((issue) => issue.path.join(".") || "the whole").join(", ");
  throw new StandInFileError(path, `no stand-in ${kind} (${where}): make one with refute stand-in-${kind}`);
}

/** The text of a stand-in's file. @throws StandInFileError */
export function readText(path: string): string {
  try {
    return new TextDecoder().decode(readRegularFile(path, MAX_BYTES));
  } catch (cause) {
    throw new StandInFileError(path, `cannot be read: it ${(cause as Error).message}`, { cause });
  }
}

/** @throws StandInFileError */
export function parseKey(path: string, pem: string): P256Key {
  try {
    return keyFromPem(pem);
  } catch {
    throw new StandInFileError(path, "privateKey is no P-256 key in PKCS #8 PEM");
  }
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** Makes a file that only its owner reads. @throws StandInFileError if there is one */
export function createFile(path: string, value: object): void {
  try {
    createWholeSync(path, json(value), OWNER_ONLY);
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === "EEXIST";
    throw new StandInFileError(
      path,
      exists ? "exists; name a new one" : `cannot be made: ${writeProblem(path, cause)}`,
      { cause },
    );
  }
}

/**
 * Replaces a file durably. After the return, even a crash of the machine leaves the complete new text.
 * @param value An object, written as JSON, or a text.
 * @throws StandInFileError
 */
export function replaceFile(path: string, value: object | string): void {
  const next = `${path}.new`;
  try {
    // A process that was killed here may have left the file.
    rmSync(next, { force: true });
    createWholeSync(next, typeof value === "string" ? value : json(value), OWNER_ONLY);
    renameSync(next, path);
    // The name, too, must be on the disk.
    const folder = openSync(dirname(path), "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (cause) {
    if (folderProblem(dirname(path)) === undefined) rmSync(next, { force: true });
    throw new StandInFileError(path, `cannot be kept: ${writeProblem(path, cause)}`, { cause });
  }
}
