import { ModuleBuilder } from "../../numerics/kernels/assembler/moduleBuilder.ts";
import { checked } from "../../numerics/kernels/checked.ts";
import { kernelMemory, MAX_PAGES, PAGE_BYTES } from "../../numerics/kernels/memory.ts";
import { hashesFunction, hashTable } from "../../numerics/kernels/sha256.ts";
import { CHUNK_BYTES, HASH_BYTES } from "./sizes.ts";

const BLOCK = 64;
const PAIR_BYTES = 2 * HASH_BYTES;
/** Messages are copied in and hashes out, in batches of this many message bytes. */
const BATCH_BYTES = 2 ** 15;
const LANES = 4;

type Hashes = (messages: number, quads: number, out: number, table: number) => void;

/** The layout of the memory: tables, messages (with room to fill up four), hashes. */
const PAIR_TABLE = 0;
const CHUNK_TABLE = 512;
const MESSAGES = 1024;
const RESULTS = MESSAGES + BATCH_BYTES + LANES * CHUNK_BYTES;

type Kernel = { bytes: Uint8Array; pairs: Hashes; chunks: Hashes };
let kernel: Kernel | undefined;

function start(): Kernel {
  const builder = new ModuleBuilder();
  builder.importMemory(true, MAX_PAGES);
  builder.define(hashesFunction(PAIR_BYTES / BLOCK), "pairs");
  builder.define(hashesFunction(CHUNK_BYTES / BLOCK), "chunks");
  const memory = kernelMemory(Math.ceil((RESULTS + BATCH_BYTES) / PAGE_BYTES));
  const module = new WebAssembly.Module(checked("hashes", builder.encode()));
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(new Uint8Array(hashTable(PAIR_BYTES / BLOCK).buffer), PAIR_TABLE);
  bytes.set(new Uint8Array(hashTable(CHUNK_BYTES / BLOCK).buffer), CHUNK_TABLE);
  return { bytes, pairs: exports.pairs as Hashes, chunks: exports.chunks as Hashes };
}

/**
 * Computes the SHA-256 of messages that lie side by side, four at a time.
 * @param message Bytes per message: a chunk, or a pair of nodes. The last message is filled up.
 * @param filling Bytes that fill up the last message, from their start; zeros beyond.
 * @param out Receives 32 bytes per message.
 */
function hashAll(messages: Uint8Array, message: number, filling: Uint8Array | undefined, out: Uint8Array): void {
  const { bytes, pairs, chunks } = (kernel ??= start());
  const [hashes, table] = message === CHUNK_BYTES ? [chunks, CHUNK_TABLE] : [pairs, PAIR_TABLE];
  for (let from = 0; from < messages.length; from += BATCH_BYTES) {
    const batch = messages.subarray(from, from + BATCH_BYTES);
    const count = Math.ceil(batch.length / message);
    bytes.set(batch, MESSAGES);
    bytes.fill(0, MESSAGES + batch.length, MESSAGES + count * message);
    if (batch.length < count * message && filling !== undefined) bytes.set(filling, MESSAGES + batch.length);
    hashes(MESSAGES, Math.ceil(count / LANES), RESULTS, table);
    out.set(bytes.subarray(RESULTS, RESULTS + count * HASH_BYTES), (from / message) * HASH_BYTES);
  }
}

/**
 * Hashes chunks of 512 bytes, with the last chunk filled up with zeros.
 * @param out Receives 32 bytes per chunk.
 */
export function hashChunks(bytes: Uint8Array, out: Uint8Array): void {
  hashAll(bytes, CHUNK_BYTES, undefined, out);
}

/**
 * Hashes neighbours of a level of a tree.
 * @param zero Takes the place of a missing right neighbour.
 */
export function hashPairs(level: Uint8Array, zero: Uint8Array, out: Uint8Array): void {
  hashAll(level, PAIR_BYTES, zero, out);
}
