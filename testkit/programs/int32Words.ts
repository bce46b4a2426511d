/** The bytes of `count` int32: element k has the low 32 bits of `value(k)`. */
export function int32Words(count: number, value: (k: number) => number): Uint8Array {
  const bytes = new Uint8Array(4 * count);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < count; k++) view.setInt32(4 * k, value(k) | 0, true);
  return bytes;
}
