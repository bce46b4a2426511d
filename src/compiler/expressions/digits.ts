/**
 * Returns the coarsest list of radices that refines both lists, or undefined if no list does. Both lists have the same
 * product. Each element in `a` and `b` then equals a product of neighbours in the result. Ones are left out.
 */
export function commonRefinement(a: readonly number[], b: readonly number[]): number[] | undefined {
  const left = a.filter((radix) => radix > 1);
  const right = b.filter((radix) => radix > 1);
  const result: number[] = [];
  while (left.length > 0 && right.length > 0) {
    const [x, y] = [left.pop()!, right.pop()!];
    const small = Math.min(x, y);
    const large = Math.max(x, y);
    if (large % small !== 0) return undefined;
    result.unshift(small);
    if (large > small) (x > y ? left : right).push(large / small);
  }
  return left.length === 0 && right.length === 0 ? result : undefined;
}

/** Splits a list of radices into groups with the given products; `fine` refines `products`. */
export function groupRadices(fine: readonly number[], products: readonly number[]): number[][] {
  let next = 0;
  return products.map((product) => {
    const group: number[] = [];
    for (let rest = product; rest > 1; next++) {
      group.push(fine[next]!);
      rest /= fine[next]!;
    }
    return group;
  });
}
