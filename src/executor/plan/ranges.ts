/** Cuts `first .. end - 1` into ranges of at most `length`. */
export function* ranges(first: number, end: number, length: number): Generator<[start: number, end: number]> {
  for (let start = first; start < end; start += length) yield [start, Math.min(end, start + length)];
}

/** Part `part` of `parts` of `0 .. radix - 1`. */
export const partOf = (radix: number, { part, parts }: { part: number; parts: number }): [number, number] => [
  Math.floor((radix * part) / parts),
  Math.floor((radix * (part + 1)) / parts),
];
