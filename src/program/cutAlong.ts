/**
 * Returns the first elements of a tensor along a dimension.
 * @param size Bytes per element; `bytes` are row-major.
 * @param count At most the dimension's length.
 */
export function cutAlong(
  bytes: Uint8Array,
  shape: readonly number[],
  axis: number,
  count: number,
  size: number,
): { shape: number[]; bytes: Uint8Array } {
  const product = (dims: readonly number[]): number => dims.reduce((total, dim) => total * dim, 1);
  const inner = size * product(shape.slice(axis + 1));
  const outer = product(shape.slice(0, axis));
  const [from, to] = [shape[axis]! * inner, count * inner];
  const result = new Uint8Array(outer * to);
  for (let k = 0; k < outer; k++) result.set(bytes.subarray(k * from, k * from + to), k * to);
  return { shape: shape.map((dim, d) => (d === axis ? count : dim)), bytes: result };
}
