/**
 * Philox 4x32-10: four 32-bit words for each counter of four 32-bit words under a key of two. (Salmon, Moraes, Dror,
 * Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; SC 2011.)
 */
export function philox(counter: readonly number[], key: readonly number[]): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter.map((word) => word >>> 0) as [number, number, number, number];
  let [k0, k1] = key.map((word) => word >>> 0) as [number, number];
  for (let round = 0; round < 10; round++) {
    const [high0, low0] = multiply(0xd2511f53, c0);
    const [high1, low1] = multiply(0xcd9e8d57, c2);
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** The two halves of a 64-bit product. */
function multiply(a: number, b: number): [high: number, low: number] {
  const low = Math.imul(a, b) >>> 0;
  // Exact in float64: each partial product is below 2^48.
  const cross = (a >>> 16) * b;
  const rest = (a & 0xffff) * b;
  const carry = Math.floor((rest + (cross % 0x10000) * 0x10000) / 0x100000000);
  return [Math.floor(cross / 0x10000) + carry, low];
}
