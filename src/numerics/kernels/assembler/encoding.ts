/** Pieces of a WebAssembly binary: bytes, and nested pieces. */
export type Code = readonly (number | Code)[];

/** LEB128 of an unsigned integer below 2^53. */
export function unsigned(value: number): Code {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) | 0x80);
  return [...bytes, value];
}

/** LEB128 of a signed integer of 32 bits. */
export function signed32(value: number): Code {
  const bytes: number[] = [];
  for (; value < -64 || value > 63; value >>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value & 0x7f];
}

/** Encodes a signed integer of up to 64 bits in LEB128. */
export function signed(value: bigint): Code {
  const bytes: number[] = [];
  for (; value < -64n || value > 63n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return [...bytes, Number(value & 0x7fn)];
}

const scratch = new DataView(new ArrayBuffer(8));

/** The little-endian bytes of a float32. */
export function float32Bytes(value: number): Code {
  scratch.setFloat32(0, value, true);
  return Array.from({ length: 4 }, (_, k) => scratch.getUint8(k));
}

/** The little-endian bytes of a float64. */
export function float64Bytes(value: number): Code {
  scratch.setFloat64(0, value, true);
  return Array.from({ length: 8 }, (_, k) => scratch.getUint8(k));
}

/** All bytes of nested pieces, in order. */
export function flatten(code: Code): number[] {
  const bytes: number[] = [];
  const visit = (piece: Code): void => {
    for (const part of piece) {
      if (typeof part === "number") bytes.push(part);
      else visit(part);
    }
  };
  visit(code);
  return bytes;
}

/** A vector of the binary format: the number of items, then the items. */
export const vector = (items: readonly Code[]): Code => [unsigned(items.length), ...items];

/** Bytes with their length before them. */
export function sized(code: Code): Code {
  const bytes = flatten(code);
  return [unsigned(bytes.length), bytes];
}

/** A name: its length and its UTF-8 bytes. */
export const name = (text: string): Code => sized([...new TextEncoder().encode(text)]);
