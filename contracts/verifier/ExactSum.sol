// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float} from "./Float.sol";
import {Float32} from "./Float32.sol";
import {Format} from "./Format.sol";

/// @title The sum over the reals of products of float32 words, rounded once at the end: what most proofs spend their
/// gas in. Mirrors src/numerics/exactSum.ts.
/// @dev HalfSum.sol adds products of float16 and bfloat16 to the same sum; float64 has its own in Float64Sum.sol.
library ExactSum {
    /// @notice A sum; the empty sum is all zeros. Its finite part is `lowest + low * 2^128 + high * 2^256 + highest *
    /// 2^384` in units of 2^-300.
    /// @dev A product is `m * 2^(p - 300)` with m < 2^48 and p the sum of both exponent fields, 2 .. 508. The code adds
    /// the signed product to window p / 128 as `m * 2^(p mod 128)`, below 2^175. The windows overlap: each holds 2^80
    /// terms, and no addition carries.
    struct Acc {
        int256 lowest;
        int256 low;
        int256 high;
        int256 highest;
        uint256 flags;
    }

    /// @notice A sum as words: its finite part in units of 2^-298, two's complement modulo 2^768, and the flags in the
    /// lowest three bits.
    struct Limbs {
        uint256 low;
        uint256 middle;
        uint256 high;
        uint256 flags;
    }

    uint256 internal constant FLAG_NAN = 1;
    uint256 internal constant FLAG_POSITIVE_INFINITY = 2;
    uint256 internal constant FLAG_NEGATIVE_INFINITY = 4;
    uint256 internal constant ALL_FLAGS = 7;
    /// @notice The words of `Limbs`.
    uint256 internal constant LIMBS = 4;

    /// @dev Parts of a float32 word: the exponent field, all ones for infinities and NaN; the fraction; the leading bit
    /// (normal numbers only), equal to 1 in the exponent field; all bits but the sign; the sign.
    uint256 private constant FIELD = 0x7f800000;
    uint256 private constant FRACTION = 0x7fffff;
    uint256 private constant LEADING_BIT = 0x800000;
    uint256 private constant MAGNITUDE = 0x7fffffff;
    uint256 private constant SIGN = 0x80000000;
    /// @dev Where `Acc.flags` lies in memory, bytes from the struct's address. The four windows come before it, 32
    /// bytes each: the bits of an offset that choose one.
    uint256 private constant ACC_FLAGS = 0x80;
    uint256 private constant ACC_WINDOWS = 0x60;

    int256 private constant LOWEST_EXPONENT = -300;
    int256 private constant LIMBS_EXPONENT = -298;
    uint256 private constant LOW_HALF = type(uint128).max;

    /// @notice Adds `terms` products. Factors are at memory addresses `a` and `b`, most significant byte first, and the
    /// next ones `aStep` and `bStep` bytes on.
    function addProducts(
        Acc memory acc,
        uint256 a,
        uint256 aStep,
        uint256 b,
        uint256 bStep,
        uint256 terms
    ) internal pure {
        // SAFETY: p <= 255 + 255 < 512, so no write leaves the four windows.
        assembly ("memory-safe") {
            for {} terms {
                terms := sub(terms, 1)
            } {
                let x := shr(224, mload(a)) // the highest four bytes
                let y := shr(224, mload(b))
                a := add(a, aStep)
                b := add(b, bStep)
                let xField := and(x, FIELD)
                let yField := and(y, FIELD)
                let p := shr(23, add(xField, yField))
                // Assumes leading bits. They exist unless a field equals 0: a zero or a subnormal.
                let m := mul(or(and(x, FRACTION), LEADING_BIT), or(and(y, FRACTION), LEADING_BIT))
                // A field of 0, or of 255: plus one it carries into the sign's bit.
                if or(iszero(mul(xField, yField)), and(or(add(xField, LEADING_BIT), add(yField, LEADING_BIT)), SIGN)) {
                    let xMagnitude := and(x, MAGNITUDE)
                    let yMagnitude := and(y, MAGNITUDE)
                    // Field 0: no leading bit, and the exponent of field 1.
                    p := add(p, add(iszero(xField), iszero(yField)))
                    m := mul(
                        sub(or(and(x, FRACTION), LEADING_BIT), shl(23, iszero(xField))),
                        sub(or(and(y, FRACTION), LEADING_BIT), shl(23, iszero(yField)))
                    )
                    if or(eq(xField, FIELD), eq(yField, FIELD)) {
                        // An infinity of the product's sign (flag 2 or 4); NaN (flag 1) for a NaN and for 0 * Inf.
                        let flag := shl(shr(31, xor(x, y)), 2)
                        if iszero(mul(xMagnitude, yMagnitude)) {
                            flag := 1
                        }
                        if or(gt(xMagnitude, FIELD), gt(yMagnitude, FIELD)) {
                            flag := 1
                        }
                        let flags := add(acc, ACC_FLAGS)
                        mstore(flags, or(mload(flags), flag))
                        m := 0
                    }
                }
                let sign := sub(0, shr(31, xor(x, y))) // all ones: `xor` and `sub` negate the term
                let window := add(acc, and(shr(2, p), ACC_WINDOWS)) // window p / 128
                mstore(window, add(mload(window), sub(xor(shl(and(p, 0x7f), m), sign), sign)))
            }
        }
    }

    /// @notice Returns the sum rounded once to float32, float16 or bfloat16: NaN after a NaN or infinities with both
    /// signs, else any infinity; +0 if empty.
    function round(Acc memory acc, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            if (acc.flags != 0) return special(acc.flags, dtype);
            (int256 lowest, int256 low, int256 high, int256 highest) = (acc.lowest, acc.low, acc.high, acc.highest);

            // The bits above a window's lower 128 carry into the next window; the last window then has the sign of the
            // whole sum.
            bool negative = highest + ((high + ((low + (lowest >> 128)) >> 128)) >> 128) < 0;
            if (negative) (lowest, low, high, highest) = (-lowest, -low, -high, -highest);
            low += lowest >> 128;
            high += low >> 128;
            highest += high >> 128;
            uint256 word0 = (uint256(low) << 128) | (uint256(lowest) & LOW_HALF);
            uint256 word1 = (uint256(highest) << 128) | (uint256(high) & LOW_HALF);
            return _roundWords(dtype, negative, uint256(highest) >> 128, word1, word0, LOWEST_EXPONENT);
        }
    }

    /// @notice Word `k` of the sum: 0, 1, 2: its limbs, lowest first; 3: its flags.
    function limb(Acc memory acc, uint256 k) internal pure returns (uint256) {
        unchecked {
            if (k == 3) return acc.flags;
            // Carried as in `round`, the sign in the last window. Every product is a multiple of 2^-298, and therefore
            // the shift loses no bits.
            int256 low = acc.low + (acc.lowest >> 128);
            int256 high = acc.high + (low >> 128);
            int256 highest = acc.highest + (high >> 128);
            uint256 word1 = (uint256(highest) << 128) | (uint256(high) & LOW_HALF);
            if (k == 2) return uint256(highest >> 130);
            if (k == 1) return (word1 >> 2) | (uint256(highest >> 128) << 254);
            uint256 word0 = (uint256(low) << 128) | (uint256(acc.lowest) & LOW_HALF);
            return (word0 >> 2) | (word1 << 254);
        }
    }

    /// @notice Adds one word to a sum's limbs, modulo 2^768; flags are or-ed.
    function addLimb(Limbs memory sum, uint256 k, uint256 word) internal pure {
        unchecked {
            if (k == 3) {
                sum.flags |= word & ALL_FLAGS;
                return;
            }
            uint256 carry = word;
            if (k == 0) {
                sum.low += carry;
                carry = sum.low < carry ? 1 : 0;
            }
            if (k <= 1) {
                sum.middle += carry;
                carry = sum.middle < carry ? 1 : 0;
            }
            sum.high += carry;
        }
    }

    /// @notice Word `k` of a sum of limbs.
    function limbOf(Limbs memory sum, uint256 k) internal pure returns (uint256) {
        if (k == 0) return sum.low;
        if (k == 1) return sum.middle;
        return k == 2 ? sum.high : sum.flags;
    }

    /// @notice Returns the sum of limbs rounded once, like `round`.
    function roundLimbs(Limbs memory sum, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            if (sum.flags != 0) return special(sum.flags, dtype);
            (uint256 low, uint256 middle, uint256 high) = (sum.low, sum.middle, sum.high);
            bool negative = high >> 255 != 0;
            if (negative) {
                low = ~low + 1;
                middle = ~middle + (low == 0 ? 1 : 0);
                high = ~high + (low | middle == 0 ? 1 : 0);
            }
            return _roundWords(dtype, negative, high, middle, low, LIMBS_EXPONENT);
        }
    }

    /// @notice The value of a sum with flags.
    function special(uint256 flags, uint256 dtype) internal pure returns (uint256) {
        if (flags == FLAG_POSITIVE_INFINITY) return Format.infinity(dtype);
        return flags == FLAG_NEGATIVE_INFINITY ? Format.infinity(dtype) | Format.sign(dtype) : Format.nan(dtype);
    }

    /// @dev Rounds the magnitude `word2 * 2^512 + word1 * 2^256 + word0` in units of 2^lowest.
    function _roundWords(
        uint256 dtype,
        bool negative,
        uint256 word2,
        uint256 word1,
        uint256 word0,
        int256 lowest
    ) private pure returns (uint256) {
        unchecked {
            // The first nonzero word to the top, its leading bit to the 256th; what does not fit is sticky.
            int256 exponent = lowest + 512;
            if (word2 == 0) (word2, word1, word0, exponent) = (word1, word0, 0, exponent - 256);
            if (word2 == 0) (word2, word1, exponent) = (word1, 0, exponent - 256);
            uint256 shift = Float32.leadingZeros(word2);
            uint256 mantissa = (word2 << shift) | (word1 >> (256 - shift));
            bool sticky = (word1 << shift) | word0 != 0;
            return Float.roundTo(dtype, negative, mantissa, exponent - int256(shift), sticky);
        }
    }
}
