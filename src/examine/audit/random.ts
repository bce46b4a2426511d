/** A number in 0 .. below-1. */
export type Random = (below: number) => number;

/** A seeded generator (splitmix32): the same draws on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  // 53 bits, so that the remainder's bias is nothing.
  return (below) => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) % below;
}
