import { createHash, type Hash as Hash256 } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { z } from "zod/v4";
import type { Hash } from "../../program/merkle/hash.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { errorWithCode } from "../../base/errors.ts";
import { knownProgram, programShape, type KnownProgram } from "../../dispute/run/execution.ts";

/*
 * A compiled program in a file:
 *
 *     magic      16 bytes, which name the format
 *     checksums  32 bytes each, SHA-256: of the lengths, the head and the body; of the constants
 *     lengths    4 bytes each, little-endian: of the head, and of the body
 *     head       JSON: what is known of a program that is not in memory
 *     body       v8.serialize: the program, without the bytes of its constants
 *     constants  the bytes of each, in the order of the body's list
 */
const MAGIC = Buffer.from("refute program 2");
const CHECKSUM_BYTES = 32;
const START = MAGIC.length + 2 * CHECKSUM_BYTES;
const LENGTHS = 8;
/** The head names external data, one line a file. */
const MAX_HEAD_BYTES = 2 ** 20;
/** How many bytes are read or hashed before the event loop has its turn. */
const PIECE = 2 ** 22;

/** A file does not contain a compiled program, or is damaged. */
export class ProgramFileError extends errorWithCode("PROGRAM_FILE") {}

const headSchema = z
  .object({
    root: z
      .string()
      .regex(/^0x[0-9a-f]{64}$/)
      .transform((text) => text as Hash),
    shape: z
      .object({
        headerBytes: z.number(),
        checkpoints: z.number(),
        outputBytes: z.array(z.number()).readonly(),
        outputs: z.number(),
        hasEach: z.boolean(),
        isCarried: z.boolean(),
        steps: z.number(),
        range: z.number(),
        tensorBytes: z.number(),
        proofGas: z.number(),
      })
      .strict(),
    /** The model's external data files: paths relative to its folder, and SHA-256. */
    files: z.array(z.object({ path: z.string(), sha256: z.string() }).strict()).readonly(),
  })
  .strict();

/** The data known about an unloaded program. */
export type ProgramHead = z.output<typeof headSchema>;

type Body = Omit<CompiledModel, "constants"> & { constants: { root: Hash; length: number }[] };

/** Writes a compiled program to a new file. The file is complete on disk when the promise resolves. */
export async function writeProgram(path: string, model: CompiledModel, files: ProgramHead["files"]): Promise<void> {
  const head: ProgramHead = { root: model.programRoot, shape: programShape(knownProgram(model)), files };
  const { constants, ...rest } = model;
  const listed = [...constants].map(([root, { length }]) => ({ root, length }));
  const parts = [Buffer.from(JSON.stringify(head)), serialize({ ...rest, constants: listed } satisfies Body)];
  const lengths = Buffer.alloc(LENGTHS);
  parts.forEach(({ length }, k) => lengths.writeUInt32LE(length, 4 * k));
  const handle = await open(path, "wx");
  try {
    let position = START;
    const checksums: Buffer[] = [];
    for (const group of [[lengths, ...parts], [...constants.values()]]) {
      const hash = createHash("sha256");
      for (const part of group) {
        hash.update(part);
        await writeAll(handle, part, position);
        position += part.length;
      }
      checksums.push(hash.digest());
    }
    await writeAll(handle, Buffer.concat([MAGIC, ...checksums]), 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads a file's head. The checksum is not looked at. @throws ProgramFileError, or why the file cannot be read */
export async function readProgramHead(path: string): Promise<ProgramHead> {
  const handle = await open(path, "r");
  try {
    return (await startOf(handle)).head;
  } finally {
    await handle.close();
  }
}

/**
 * Reads a compiled program. The checksum shows whether the file is complete. The root is computed anew from the program
 * lists' trees. The event loop waits for at most some milliseconds at a time.
 * @throws ProgramFileError, or the read error of the file
 */
export async function readProgram(path: string): Promise<KnownProgram> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    const { checksums, lengths, headBytes, bodyLength, head } = await startOf(handle);
    let position = START + LENGTHS + headBytes.length;
    // SAFETY: memory is allocated only for existing bytes, and only checked bytes are decoded.
    if (position + bodyLength > size) throw new ProgramFileError("the file ends early");
    const hash = createHash("sha256").update(lengths).update(headBytes);
    const bodyBytes = await readPiecewise(handle, position, bodyLength, hash);
    requireChecksum(hash, checksums[0]);
    position += bodyLength;
    const body = deserialize(bodyBytes) as Body;
    const { constants: listed, ...rest } = body;
    const total = listed.reduce((sum, { length }) => sum + length, 0);
    if (position + total !== size)
      throw new ProgramFileError(`the file has ${size} bytes, expected ${position + total}`);
    const ofConstants = createHash("sha256");
    const constants = new Map<Hash, Uint8Array>();
    for (const { root, length } of listed) {
      constants.set(root, await readPiecewise(handle, position, length, ofConstants));
      position += length;
    }
    requireChecksum(ofConstants, checksums[1]);
    const program = knownProgram({ ...rest, constants });
    if (program.commitment.programRoot !== head.root || rest.programRoot !== head.root)
      throw new ProgramFileError("the file holds another program than it names");
    return program;
  } finally {
    await handle.close();
  }
}

async function startOf(handle: FileHandle) {
  const start = await read(handle, new Uint8Array(START + LENGTHS), 0);
  if (!MAGIC.equals(start.subarray(0, MAGIC.length))) throw new ProgramFileError("the file is no compiled program");
  const sums = Buffer.from(start.subarray(MAGIC.length, START));
  const checksums = [sums.subarray(0, CHECKSUM_BYTES), sums.subarray(CHECKSUM_BYTES)] as const;
  const lengths = Buffer.from(start.subarray(START));
  const headLength = lengths.readUInt32LE(0);
  if (headLength > MAX_HEAD_BYTES) throw new ProgramFileError(`the file's head has ${headLength} bytes`);
  const headBytes = await read(handle, new Uint8Array(headLength), START + LENGTHS);
  let head: ProgramHead;
  try {
    head = headSchema.parse(JSON.parse(Buffer.from(headBytes).toString()));
  } catch (cause) {
    throw new ProgramFileError("the file's head does not decode", { cause });
  }
  return { checksums, lengths, headBytes, bodyLength: lengths.readUInt32LE(4), head };
}

function requireChecksum(hash: Hash256, expected: Buffer): void {
  if (!hash.digest().equals(expected)) throw new ProgramFileError("the file does not have its checksum");
}

/** Reads and hashes a part of a file. */
async function readPiecewise(handle: FileHandle, position: number, length: number, hash: Hash256): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; done += PIECE)
    hash.update(await read(handle, bytes.subarray(done, done + PIECE), position + done));
  return bytes;
}

async function read(handle: FileHandle, into: Uint8Array, position: number): Promise<Uint8Array> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await handle.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) throw new ProgramFileError("the file ends early");
    done += bytesRead;
  }
  return into;
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const part = bytes.subarray(done, done + PIECE);
    done += (await handle.write(part, 0, part.length, position + done)).bytesWritten;
  }
}
