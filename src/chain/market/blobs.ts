/** A blob of EIP-4844: field elements of 32 bytes, of which the first must be zero to stay below the field's order. */
const ELEMENTS = 4_096;
const ELEMENT_BYTES = 32;
const USED_BYTES = ELEMENT_BYTES - 1;
export const BLOB_BYTES = ELEMENTS * ELEMENT_BYTES;
/** Bytes of a file that a blob holds: 126,976. */
export const FILE_BYTES_PER_BLOB = ELEMENTS * USED_BYTES;
/** Blobs that a transaction may have (EIP-7594). */
export const BLOBS_PER_TRANSACTION = 6;
/** What consensus specifications say where a node does not: for how many epochs nodes keep blobs, and their slots. */
export const USUAL_SLOTS = { epochs: 4_096, perEpoch: 32, seconds: 12 };
/** How long nodes keep blobs at least where nothing else is said. */
export const BLOB_SECONDS = BigInt(USUAL_SLOTS.epochs * USUAL_SLOTS.perEpoch * USUAL_SLOTS.seconds);

/** The number of blobs of a file of so many bytes. */
export const blobCount = (bytes: number): number => Math.ceil(bytes / FILE_BYTES_PER_BLOB);

/** A file as blobs: 31 bytes of it in each field element, zeros after its end. */
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
 * The file that blobs hold. What their other bytes say is not looked at: the roots of a job decide.
 * @param bytes Of the file.
 * @returns undefined if the blobs are not as many or not as long as such a file takes
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
