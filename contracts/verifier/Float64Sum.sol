// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {ExactSum} from "./ExactSum.sol";
import {Float} from "./Float.sol";

/// @title The sum over the reals of products of float64 words, rounded once at the end. Mirrors
/// src/numerics/exactSum.ts.
/// @dev ExactSum.sol has the other types.
library Float64Sum {
    /// @notice A sum; its finite part is the sum over k of `windows[k] * 2^(128 k)` in units of 2^-2148.
    /// @dev A product is `m * 2^p` such units with m < 2^106 and p the sum of both exponent fields less 2, 0 .. 4090.
    /// The code adds the signed product to window p / 128 as `m * 2^(p mod 128)`, below 2^233. The windows overlap:
    /// each holds 2^22 terms, more than any block gas limit allows, and no addition carries.
    struct Acc {
        int256[] windows;
        uint256 flags;
    }

    /// @notice The number of words in a sum: 17 limbs for the finite part, two's complement modulo 2^4352, and the
    /// flags.
    uint256 internal constant LIMBS = 18;

    uint256 private constant FLAGS_LIMB = 17;
    /// @dev Two a limb.
    uint256 private constant WINDOWS = 34;
    int256 private constant LOWEST_EXPONENT = -2148;
    uint256 private constant FRACTION_BITS = 52;
    uint256 private constant INFINITY = 0x7ff << 52;
    uint256 private constant MAGNITUDE = (1 << 63) - 1;
    uint256 private constant LOW_HALF = type(uint128).max;

    function start() internal pure returns (Acc memory acc) {
        acc.windows = new int256[](WINDOWS);
    }

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
        unchecked {
            int256[] memory windows = acc.windows;
            for (; terms != 0; --terms) {
                uint256 x;
                uint256 y;
                assembly ("memory-safe") {
                    x := shr(192, mload(a)) // the highest eight bytes
                    y := shr(192, mload(b))
                }
                a += aStep;
                b += bStep;
                uint256 xMagnitude = x & MAGNITUDE;
                uint256 yMagnitude = y & MAGNITUDE;
                bool negative = (x != xMagnitude) != (y != yMagnitude);
                if (xMagnitude >= INFINITY || yMagnitude >= INFINITY) {
                    bool nan = xMagnitude > INFINITY || yMagnitude > INFINITY || xMagnitude * yMagnitude == 0;
                    acc.flags |=
                        nan
                            ? ExactSum.FLAG_NAN
                            : negative
                                ? ExactSum.FLAG_NEGATIVE_INFINITY
                                : ExactSum.FLAG_POSITIVE_INFINITY;
                    continue;
                }
                (uint256 p, uint256 xMantissa) = _split(xMagnitude);
                (uint256 q, uint256 yMantissa) = _split(yMagnitude);
                p += q;
                int256 term = int256((xMantissa * yMantissa) << (p & 127));
                if (negative) term = -term;
                // SAFETY: p <= 2 * 2045, for which there are windows.
                assembly ("memory-safe") {
                    // Window p / 128, 32 bytes each, past the array's length.
                    let window := add(add(windows, 0x20), and(shr(2, p), not(0x1f)))
                    mstore(window, add(mload(window), term))
                }
            }
        }
    }

    /// @dev Returns the exponent above the subnormals', and the mantissa. Field 0 means a zero or a subnormal: no
    /// leading bit, and the exponent of field 1.
    function _split(uint256 magnitude) private pure returns (uint256 exponent, uint256 mantissa) {
        unchecked {
            exponent = magnitude >> FRACTION_BITS;
            if (exponent == 0) return (0, magnitude);
            --exponent;
            // The field equals exponent + 1: the remainder holds the fraction and the leading bit.
            mantissa = magnitude - (exponent << FRACTION_BITS);
        }
    }

    /// @notice Adds one word of a sum's limbs; flags are or-ed.
    function addLimb(Acc memory acc, uint256 k, uint256 word) internal pure {
        unchecked {
            if (k == FLAGS_LIMB) {
                acc.flags |= word & ExactSum.ALL_FLAGS;
                return;
            }
            acc.windows[2 * k] += int256(word & LOW_HALF);
            acc.windows[2 * k + 1] += int256(word >> 128);
        }
    }

    /// @notice Word `k` of the sum: its limbs, lowest first, then its flags.
    function limb(Acc memory acc, uint256 k) internal pure returns (uint256) {
        unchecked {
            if (k == FLAGS_LIMB) return acc.flags;
            int256[] memory windows = acc.windows;
            _carry(windows);
            return uint256(windows[2 * k]) | (uint256(windows[2 * k + 1]) << 128);
        }
    }

    /// @notice Returns the sum, with its finite part modulo 2^4352 from -2^4351 on, rounded once: NaN after a NaN or
    /// infinities with both signs, else any infinity; +0 if empty.
    function round(Acc memory acc) internal pure returns (uint256) {
        unchecked {
            if (acc.flags != 0) return ExactSum.special(acc.flags, DType.FLOAT64);
            int256[] memory windows = acc.windows;
            _carry(windows);
            // The lower half of the last window gives the sign of the whole sum: bits above are multiples of 2^4352.
            int256 last = int128(windows[WINDOWS - 1]);
            windows[WINDOWS - 1] = last;
            bool negative = last < 0;
            if (negative) {
                for (uint256 k = 0; k < WINDOWS; ++k) windows[k] = -windows[k];
                _carry(windows);
            }
            // All windows are now at most 2^128, and none is negative.
            uint256 top = WINDOWS - 1;
            while (top != 1 && windows[top] == 0) --top;
            bool sticky = false;
            for (uint256 k = 0; k + 1 < top; ++k) if (windows[k] != 0) sticky = true;
            uint256 mantissa = (uint256(windows[top]) << 128) | uint256(windows[top - 1]);
            int256 exponent = LOWEST_EXPONENT + 128 * int256(top - 1);
            return Float.roundTo(DType.FLOAT64, negative, mantissa, exponent, sticky);
        }
    }

    /// @dev Moves the bits above a window's lower 128 to the next window, except for the last window.
    function _carry(int256[] memory windows) private pure {
        unchecked {
            for (uint256 k = 0; k + 1 < WINDOWS; ++k) {
                int256 window = windows[k];
                windows[k + 1] += window >> 128;
                windows[k] = int256(uint256(window) & LOW_HALF);
            }
        }
    }
}
