/** Numbers that docs/program.md reserves: both decoders refuse them. */

const range = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, k) => first + k);

/** Reserved element types: for ONNX, and for exact sums over types other than float32. */
export const RESERVED_TYPES: readonly number[] = [...range(17, 26), ...range(0xa1, 0xaf)];
/** Operations of an expression. */
export const RESERVED_OPERATIONS: readonly number[] = range(0x62, 0xff);
/** Reductions. */
export const RESERVED_REDUCTIONS: readonly number[] = range(14, 31);
