/**
 * A blob of EIP-4844: field elements of 32 bytes. The first byte of each element must be zero, to stay below the
 * field's order.
 */
const ELEMENTS = 4_096;
const ELEMENT_BYTES = 32;
const USED_BYTES = ELEMENT_BYTES - 1;
export const BLOB_BYTES = ELEMENTS * ELEMENT_BYTES;
/** Bytes of a file that a blob holds: 126,976. */
export const FILE_BYTES_PER_BLOB = ELEMENTS * USED_BYTES;
/** Blobs that a transaction may have (EIP-7594). */
export const BLOBS_PER_TRANSACTION = 6;
/**
 * Defaults from the consensus specifications, for nodes that report none: how many epochs nodes keep blobs, and the
 * slots per epoch.
 */
export const USUAL_SLOTS = { epochs: 4_096, perEpoch: 32, seconds: 12 };
/** How long nodes keep blobs at least where nothing else is said. */
export const BLOB_SECONDS = BigInt(USUAL_SLOTS.epochs * USUAL_SLOTS.perEpoch * USUAL_SLOTS.seconds);

/** Returns the number of blobs for a file with the given byte count. */
export const blobCount = (bytes: number): number => Math.ceil(bytes / FILE_BYTES_PER_BLOB);

/** Splits a file into blobs: 31 file bytes in each field element, zeros after the file's end. */
export function blobsOf(file: Uint8Array): Uint8Array[] {
  return Array.from({ length: blobCount(file.length) }, (_, k) => {
    const blob = new Uint8Array(BLOB_BYTES);
    const own = file.subarray(k * FILE_BYTES_PER_BLOB, (k + 1) * FILE_BYTES_PER_BLOB);
    for (let at = 0; at * USED_BYTES < own.length; at++)
      blob.set(own.subarray(at * USED_BYTES, (at + 1) * USED_BYTES), at * ELEMENT_BYTES + 1);
    return blob;
  });
}

/**
 * Reads the file that blobs contain. The blobs' other bytes are ignored: the job's roots decide.
 * @param bytes The file's size.
 * @returns undefined if the blobs' number or length does not match the file's size
 */
export function fileOf(blobs: readonly Uint8Array[], bytes: number): Uint8Array | undefined {
  if (blobs.length !== blobCount(bytes) || blobs.some(({ length }) => length !== BLOB_BYTES)) return undefined;
  const file = new Uint8Array(blobs.length * FILE_BYTES_PER_BLOB);
  blobs.forEach((blob, k) => {
    for (let at = 0; at < ELEMENTS; at++) {
      const used = blob.subarray(at * ELEMENT_BYTES + 1, (at + 1) * ELEMENT_BYTES);
      file.set(used, k * FILE_BYTES_PER_BLOB + at * USED_BYTES);
    }
  });
  return file.subarray(0, bytes);
}
