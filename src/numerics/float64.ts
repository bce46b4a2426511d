import type { Word } from "./dtype.ts";
import { floatArithmetic } from "./float.ts";
import { FLOAT64 } from "./format.ts";

/**
 * float64 primitives on words (the 64 bits as a bigint): the exact real result, rounded once. Every function is total,
 * takes -0 for +0 and any NaN for {@link NAN}, and returns neither -0 nor another NaN. Comparisons return 0n or 1n.
 */

export const ONE: Word = 0x3ff0000000000000n;
export const NEG_ONE: Word = 0xbff0000000000000n;
export const INFINITY_: Word = 0x7ff0000000000000n;
export const NEG_INFINITY: Word = 0xfff0000000000000n;
export const NAN: Word = 0x7ff8000000000000n;
/** All bits but the sign. */
export const MAGNITUDE: Word = 0x7fffffffffffffffn;

export const FLOAT64_ARITHMETIC = floatArithmetic(FLOAT64);

export const { decode } = FLOAT64_ARITHMETIC;
