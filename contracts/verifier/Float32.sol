// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title float32 primitives on words: the exact real result, rounded once. Mirrors src/numerics/float32.ts and
/// round.ts.
/// @dev A word is a uint256 holding 32 bits; higher bits are ignored. Every function is total, reads -0 as +0 and every
/// NaN equal to NAN, and returns neither -0 nor another NaN. Comparisons return 0 or 1.
library Float32 {
    uint256 internal constant ZERO = 0;
    uint256 internal constant ONE = 0x3f800000;
    uint256 internal constant NEG_ONE = 0xbf800000;
    uint256 internal constant INFINITY = 0x7f800000;
    uint256 internal constant NEG_INFINITY = 0xff800000;
    uint256 internal constant NAN = 0x7fc00000;

    uint256 private constant SIGN_BIT = 0x80000000;
    uint256 private constant MAGNITUDE = 0x7fffffff;
    uint256 private constant WORD = 0xffffffff;

    /// @notice Rounds `(-1)^negative * mantissa * 2^exponent` to float32: half to even, once, subnormals kept, overflow
    /// to infinity, +0 for every result that is zero.
    /// @param exponent Between -2^254 and 2^254.
    /// @param sticky The magnitude is larger than that by something nonzero and below `2^exponent`. Then `mantissa >=
    /// 2^24` or `exponent <= -150`.
    function roundToFloat32(
        bool negative,
        uint256 mantissa,
        int256 exponent,
        bool sticky
    ) internal pure returns (uint256 word) {
        unchecked {
            if (mantissa == 0) return ZERO;
            uint256 leading = leadingZeros(mantissa);
            // 2^top <= magnitude < 2^(top+1)
            int256 top = exponent + 255 - int256(leading);
            if (top >= 128) return negative ? NEG_INFINITY : INFINITY;

            // A normal number keeps 24 bits. A subnormal number, a multiple of 2^-149, keeps from 24 bits down to none.
            mantissa <<= leading;
            if (top >= -126) {
                // A normal number's leading bit adds 1 to the exponent field, and so does a carry out of the fraction,
                // up to infinity.
                word = roundBits(mantissa, 232, sticky) + (uint256(top + 126) << 23);
            } else {
                if (top < -150) return ZERO;
                word = roundBits(mantissa, uint256(106 - top), sticky);
                if (word == 0) return ZERO;
            }
            if (negative) word |= SIGN_BIT;
        }
    }

    /// @dev `mantissa / 2^drop` rounded half to even, for 0 < drop <= 256; up at a half if `sticky`.
    function roundBits(uint256 mantissa, uint256 drop, bool sticky) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := shr(drop, mantissa)
            // The dropped bits, in the highest positions. They round up if they exceed half, or equal half and the word
            // is odd or sticky.
            let rest := shl(sub(256, drop), mantissa) // half is 2^255
            word := add(word, gt(rest, sub(shl(255, 1), or(and(word, 1), sticky))))
        }
    }

    /// @notice Number of zero bits above the highest set bit; 256 for 0.
    function leadingZeros(uint256 value) internal pure returns (uint256 count) {
        assembly ("memory-safe") {
            count := clz(value)
        }
    }

    /// @notice Returns the word with -0 read as +0 and every NaN as NAN; bits above the 32nd are dropped.
    function canonical(uint256 a) internal pure returns (uint256) {
        uint256 magnitude = a & MAGNITUDE;
        if (magnitude > INFINITY) return NAN;
        return magnitude == 0 ? ZERO : a & WORD;
    }

    function isNaN(uint256 a) internal pure returns (bool) {
        return a & MAGNITUDE > INFINITY;
    }

    function isInfinite(uint256 a) internal pure returns (bool) {
        return a & MAGNITUDE == INFINITY;
    }

    /// @notice A finite word as `(-1)^negative * mantissa * 2^exponent`, `mantissa < 2^24`, `-149 <= exponent <= 104`.
    /// Meaningless for NaN and infinities.
    function decode(uint256 a) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        assembly ("memory-safe") {
            // Sign 1 bit, exponent field 8, fraction 23.
            negative := and(shr(31, a), 1)
            let field := and(shr(23, a), 0xff)
            // A subnormal number has no leading bit, and the exponent of field 1.
            mantissa := or(and(a, 0x7fffff), shl(23, gt(field, 0)))
            exponent := sub(add(field, iszero(field)), 150)
        }
    }

    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            if (!areFinite(a, b)) return addSpecial(a, b);
            (int256 x, int256 exponent) = decodeSigned(a);
            (int256 y, int256 yExponent) = decodeSigned(b);
            int256 gap = exponent - yExponent;
            if (gap >= 0) {
                // The other term is below a quarter of an ulp, even in the binade beneath.
                if (gap > 64) return a & WORD;
                x <<= uint256(gap);
                exponent = yExponent;
            } else {
                if (gap < -64) return b & WORD;
                y <<= uint256(-gap);
            }
            return roundSigned(x + y, exponent);
        }
    }

    function addSpecial(uint256 a, uint256 b) private pure returns (uint256) {
        if (isNaN(a) || isNaN(b)) return NAN;
        if (isInfinite(a)) return isInfinite(b) && isNegative(a) != isNegative(b) ? NAN : a & WORD;
        return b & WORD;
    }

    function sub(uint256 a, uint256 b) internal pure returns (uint256) {
        return add(a, b ^ SIGN_BIT);
    }

    function mul(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            bool negative = isNegative(a ^ b);
            if (!areFinite(a, b)) {
                if (isNaN(a) || isNaN(b) || isZero(a) || isZero(b)) return NAN;
                return negative ? NEG_INFINITY : INFINITY;
            }
            (, uint256 x, int256 xExponent) = decode(a);
            (, uint256 y, int256 yExponent) = decode(b);
            return roundToFloat32(negative, x * y, xExponent + yExponent, false);
        }
    }

    /// @notice x/0 is infinity with the sign of x (the zero has none), 0/0 and Inf/Inf are NaN.
    function div(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            bool negative = isNegative(a ^ b);
            if (!areFinite(a, b)) {
                if (isNaN(a) || isNaN(b) || (isInfinite(a) && isInfinite(b))) return NAN;
                if (isInfinite(b)) return ZERO;
                if (isZero(b)) negative = isNegative(a);
                return negative ? NEG_INFINITY : INFINITY;
            }
            (, uint256 x, int256 xExponent) = decode(a);
            (, uint256 y, int256 yExponent) = decode(b);
            if (y == 0)
                return
                    x == 0
                        ? NAN
                        : isNegative(a)
                            ? NEG_INFINITY
                            : INFINITY;
            x <<= 50; // so that the quotient has more than 25 bits
            return roundToFloat32(negative, x / y, xExponent - 50 - yExponent, x % y != 0);
        }
    }

    /// @notice C's fmod: a - n*b with n = trunc(a/b) over the reals; exact, with the sign of a. fmod(x, 0) and
    /// fmod(Inf, y) are NaN.
    function fmod(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            if (isNaN(a) || isNaN(b) || isInfinite(a) || isZero(b)) return NAN;
            if (isInfinite(b)) return canonical(a);
            (bool negative, uint256 x, int256 exponent) = decode(a);
            (, uint256 y, int256 yExponent) = decode(b);
            int256 gap = exponent - yExponent;
            if (gap >= 0) {
                x = mulmod(x, 1 << uint256(gap), y); // gap <= 253
                exponent = yExponent;
            } else {
                if (gap <= -24) return canonical(a); // x < 2^24 <= y * 2^24
                x %= y << uint256(-gap);
            }
            return roundToFloat32(negative, x, exponent, false);
        }
    }

    /// @notice Square root; NaN below zero.
    function sqrt(uint256 a) internal pure returns (uint256) {
        unchecked {
            if (isNaN(a)) return NAN;
            if (isZero(a)) return ZERO;
            if (isNegative(a)) return NAN;
            if (isInfinite(a)) return INFINITY;
            (, uint256 mantissa, int256 exponent) = decode(a);
            // 50 or 51 bits beneath the leading bit, chosen to make the exponent even; the root has 26 bits.
            uint256 shift = leadingZeros(mantissa) - 205;
            if ((uint256(exponent) ^ shift) & 1 == 1) ++shift;
            uint256 square = mantissa << shift;
            uint256 root = mantissaSqrt(square);
            return roundToFloat32(false, root, (exponent - int256(shift)) / 2, root * root != square);
        }
    }

    /// @dev Returns the largest integer whose square does not exceed `value`, for value < 2^254. Newton's steps
    /// decrease until they reach this integer.
    function integerSqrt(uint256 value) internal pure returns (uint256 root) {
        unchecked {
            if (value == 0) return 0;
            uint256 next = 1 << ((257 - leadingZeros(value)) >> 1); // above the root
            do {
                root = next;
                next = (root + value / root) >> 1;
            } while (next < root);
        }
    }

    /// @dev Returns the largest integer whose square does not exceed `value`, for 2^50 <= value < 2^52. Newton's method
    /// starts from 1.5 * 2^25. The relative error is below 0.5, 0.084, 0.0033, 5.3e-6, 1.5e-11, and never negative
    /// after a step: the last value equals the root or exceeds it by 1.
    function mantissaSqrt(uint256 value) private pure returns (uint256 root) {
        unchecked {
            root = 3 << 24;
            root = (root + value / root) >> 1;
            root = (root + value / root) >> 1;
            root = (root + value / root) >> 1;
            root = (root + value / root) >> 1;
            if (root * root > value) --root;
        }
    }

    function neg(uint256 a) internal pure returns (uint256) {
        return canonical(a ^ SIGN_BIT);
    }

    function abs(uint256 a) internal pure returns (uint256) {
        return canonical(a & MAGNITUDE);
    }

    /// @notice -1, 0 or 1; NaN for NaN.
    function sign(uint256 a) internal pure returns (uint256) {
        if (isNaN(a)) return NAN;
        if (isZero(a)) return ZERO;
        return isNegative(a) ? NEG_ONE : ONE;
    }

    /// @notice IEEE 754-2019 minimum: NaN if either is.
    function min(uint256 a, uint256 b) internal pure returns (uint256) {
        if (!areNumbers(a, b)) return NAN;
        return canonical(order(a) < order(b) ? a : b);
    }

    /// @notice IEEE 754-2019 maximum: NaN if either is.
    function max(uint256 a, uint256 b) internal pure returns (uint256) {
        if (!areNumbers(a, b)) return NAN;
        return canonical(order(a) < order(b) ? b : a);
    }

    /// @notice Largest integer not above a.
    function floor(uint256 a) internal pure returns (uint256) {
        if (isIntegral(a)) return canonical(a);
        (int256 mantissa, uint256 places) = decodeFraction(a);
        return roundSigned(mantissa >> places, 0);
    }

    /// @notice Smallest integer not below a.
    function ceil(uint256 a) internal pure returns (uint256) {
        if (isIntegral(a)) return canonical(a);
        (int256 mantissa, uint256 places) = decodeFraction(a);
        unchecked {
            return roundSigned(-(-mantissa >> places), 0);
        }
    }

    /// @notice Nearest integer, half to even.
    function round(uint256 a) internal pure returns (uint256) {
        if (isIntegral(a)) return canonical(a);
        (int256 mantissa, uint256 places) = decodeFraction(a);
        unchecked {
            int256 below = mantissa >> places;
            uint256 twiceRest = uint256(mantissa - (below << places)) << 1;
            uint256 one = 1 << places;
            if (twiceRest > one || (twiceRest == one && below & 1 == 1)) ++below;
            return roundSigned(below, 0);
        }
    }

    function eq(uint256 a, uint256 b) internal pure returns (uint256) {
        return areNumbers(a, b) && order(a) == order(b) ? 1 : 0;
    }

    function lt(uint256 a, uint256 b) internal pure returns (uint256) {
        return areNumbers(a, b) && order(a) < order(b) ? 1 : 0;
    }

    function le(uint256 a, uint256 b) internal pure returns (uint256) {
        return areNumbers(a, b) && order(a) <= order(b) ? 1 : 0;
    }

    function areFinite(uint256 a, uint256 b) private pure returns (bool yes) {
        assembly ("memory-safe") {
            // Finite: the magnitude is below that of infinity.
            yes := and(lt(and(a, MAGNITUDE), INFINITY), lt(and(b, MAGNITUDE), INFINITY))
        }
    }

    function areNumbers(uint256 a, uint256 b) private pure returns (bool yes) {
        assembly ("memory-safe") {
            // NaN: the magnitude is above that of infinity.
            yes := iszero(or(gt(and(a, MAGNITUDE), INFINITY), gt(and(b, MAGNITUDE), INFINITY)))
        }
    }

    function isNegative(uint256 a) private pure returns (bool) {
        return a & SIGN_BIT != 0;
    }

    function isZero(uint256 a) private pure returns (bool) {
        return a & MAGNITUDE == 0;
    }

    /// @dev Whether the exponent of a word leaves no fraction: from 2^23 on, infinities and NaN.
    function isIntegral(uint256 a) private pure returns (bool) {
        return a & MAGNITUDE >= 0x4b000000;
    }

    /// @dev Decodes a word with a nonintegral exponent as `mantissa * 2^-places`, `0 < places <= 149`.
    function decodeFraction(uint256 a) private pure returns (int256 mantissa, uint256 places) {
        unchecked {
            int256 exponent;
            (mantissa, exponent) = decodeSigned(a);
            places = uint256(-exponent);
        }
    }

    function decodeSigned(uint256 a) private pure returns (int256, int256) {
        (, uint256 mantissa, int256 exponent) = decode(a);
        return (applySign(a, mantissa), exponent);
    }

    /// @dev Rounds the signed value `mantissa * 2^exponent`.
    function roundSigned(int256 mantissa, int256 exponent) private pure returns (uint256) {
        unchecked {
            bool negative = mantissa < 0;
            return roundToFloat32(negative, uint256(negative ? -mantissa : mantissa), exponent, false);
        }
    }

    /// @dev Returns an integer ordered like the values of non-NaN words; both zeros give 0.
    function order(uint256 a) private pure returns (int256) {
        return applySign(a, a & MAGNITUDE);
    }

    /// @dev The magnitude with the sign of the word `a`.
    function applySign(uint256 a, uint256 magnitude) private pure returns (int256 value) {
        assembly ("memory-safe") {
            let mask := sub(0, and(shr(31, a), 1)) // all ones for a negative word
            // Unchanged for a mask of 0; its two's complement for all ones.
            value := sub(xor(magnitude, mask), mask)
        }
    }
}
