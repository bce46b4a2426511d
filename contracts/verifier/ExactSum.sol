// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Float32} from "./Float32.sol";

/// @title A sum over the reals of float32 words and of their products, rounded once at the end. Mirrors src/numerics/exactSum.ts.
library ExactSum {
    /// @notice A sum; the empty one is all zeros. Positive and negative terms are gathered apart, so that a term is one addition with
    /// no sign: two numbers of three 256-bit limbs each, lowest first, in units of 2^-426.
    /// @dev The lowest bit of a product is 2^-298; the 128 bits beneath stay empty and put products of ordinary size, around 2^0, well
    /// inside the middle limb. The highest term is below 2^256 = 2^682 units: room for 2^86 terms.
    struct Acc {
        uint256 positiveLow;
        uint256 positiveMid;
        uint256 positiveHigh;
        uint256 negativeLow;
        uint256 negativeMid;
        uint256 negativeHigh;
        uint256 flags;
    }

    uint256 internal constant FLAG_NAN = 1;
    uint256 internal constant FLAG_POSITIVE_INFINITY = 2;
    uint256 internal constant FLAG_NEGATIVE_INFINITY = 4;

    int256 private constant LOWEST_EXPONENT = -426;

    uint256 private constant FRACTION = 0x7fffff;
    uint256 private constant LEADING_BIT = 0x800000;

    /// @notice Adds one word.
    function addTerm(Acc memory acc, uint256 a) internal pure {
        unchecked {
            uint256 field = (a >> 23) & 0xff;
            if (field == 0xff) {
                acc.flags |= flagOf(a);
            } else if (field == 0) {
                addShifted(acc, a >> 31, a & FRACTION, 277);
            } else {
                addShifted(acc, a >> 31, (a & FRACTION) | LEADING_BIT, field + 276); // exponent: field - 150
            }
        }
    }

    /// @notice Adds the unrounded product of two words.
    function addProduct(Acc memory acc, uint256 a, uint256 b) internal pure {
        unchecked {
            uint256 aField = (a >> 23) & 0xff;
            uint256 bField = (b >> 23) & 0xff;
            uint256 aMantissa = a & FRACTION;
            uint256 bMantissa = b & FRACTION;
            if (aField == 0xff || bField == 0xff) {
                acc.flags |= flagOf(Float32.mul(a, b));
                return;
            }
            if (aField == 0) aField = 1;
            else aMantissa |= LEADING_BIT;
            if (bField == 0) bField = 1;
            else bMantissa |= LEADING_BIT;
            // exponent: aField + bField - 300
            addShifted(acc, (a ^ b) >> 31, aMantissa * bMantissa, aField + bField + 126);
        }
    }

    /// @notice The sum rounded once: NaN after a NaN or infinities of both signs, else an infinity if there was one; +0 if empty.
    function round(Acc memory acc) internal pure returns (uint256) {
        unchecked {
            uint256 flags = acc.flags;
            if (flags != 0) {
                if (flags == FLAG_POSITIVE_INFINITY) return Float32.INFINITY;
                return flags == FLAG_NEGATIVE_INFINITY ? Float32.NEG_INFINITY : Float32.NAN;
            }
            (bool negative, uint256 low, uint256 mid, uint256 high) = difference(acc);

            // The highest nonzero limb first, then its leading bit to the top; what does not fit the 256 bits is sticky.
            int256 exponent = LOWEST_EXPONENT + 512;
            if (high == 0) (high, mid, low, exponent) = (mid, low, 0, exponent - 256);
            if (high == 0) (high, mid, exponent) = (mid, 0, exponent - 256);
            uint256 shift = Float32.leadingZeros(high);
            uint256 mantissa = (high << shift) | (mid >> (256 - shift));
            return Float32.roundToFloat32(negative, mantissa, exponent - int256(shift), (mid << shift) | low != 0);
        }
    }

    /// @dev Sign and limbs of positive terms minus negative ones.
    function difference(Acc memory acc) private pure returns (bool negative, uint256 low, uint256 mid, uint256 high) {
        unchecked {
            (uint256 low1, uint256 mid1, uint256 high1) = (acc.positiveLow, acc.positiveMid, acc.positiveHigh);
            (uint256 low2, uint256 mid2, uint256 high2) = (acc.negativeLow, acc.negativeMid, acc.negativeHigh);
            negative = high1 < high2 || (high1 == high2 && (mid1 < mid2 || (mid1 == mid2 && low1 < low2)));
            if (negative) (low1, mid1, high1, low2, mid2, high2) = (low2, mid2, high2, low1, mid1, high1);
            low = low1 - low2;
            high = high1 - high2;
            mid = mid1 - mid2;
            if (mid1 < mid2) --high;
            if (low1 < low2) {
                if (mid == 0) --high;
                --mid;
            }
        }
    }

    /// @dev Adds `term * 2^shift` units to the limbs of the sign in the lowest bit of `sign`, for term * 2^shift < 2^682.
    function addShifted(Acc memory acc, uint256 sign, uint256 term, uint256 shift) internal pure {
        // SAFETY: 2^86 terms stay below 2^768: nothing ever carries out of the third limb, so no write
        // leaves the three limbs of its sign.
        assembly ("memory-safe") {
            let limb := add(add(acc, mul(96, and(sign, 1))), shl(5, shr(8, shift)))
            shift := and(shift, 0xff)
            let part := shl(shift, term)
            let total := add(mload(limb), part)
            mstore(limb, total)
            part := add(shr(sub(256, shift), term), lt(total, part))
            if part {
                limb := add(limb, 32)
                total := add(mload(limb), part)
                mstore(limb, total)
                if lt(total, part) {
                    limb := add(limb, 32)
                    mstore(limb, add(mload(limb), 1))
                }
            }
        }
    }

    /// @dev The flag of a word that is not finite.
    function flagOf(uint256 a) internal pure returns (uint256) {
        if (Float32.isNaN(a)) return FLAG_NAN;
        return (a >> 31) & 1 == 0 ? FLAG_POSITIVE_INFINITY : FLAG_NEGATIVE_INFINITY;
    }
}
