// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExactSum} from "./ExactSum.sol";
import {Float} from "./Float.sol";
import {Float32} from "./Float32.sol";
import {Format} from "./Format.sol";

/// @title The sum over the reals of products of words of any float type, rounded once at the end. Mirrors
/// src/numerics/exactSum.ts.
/// @dev float32 has its own in ExactSum.sol, which is this written out for it.
library FloatSum {
    /// @notice A sum; its finite part is the sum over k of `windows[k] * 2^(128 k)` in units of
    /// 2^(2 lowest exponent - 2).
    /// @dev A product is `m * 2^p` such units with m < 2^106 and p the sum of both exponent fields, 2 .. 4092. It is
    /// added, with its sign, to window p / 128 as `m * 2^(p mod 128)`, below 2^233. The windows overlap: each holds
    /// 2^22 terms, more than any block gas limit allows, and no addition carries.
    struct Acc {
        int256[] windows;
        uint256 flags;
    }

    uint256 private constant LOW_HALF = type(uint128).max;

    function start(uint256 dtype) internal pure returns (Acc memory acc) {
        uint256 highestField = uint256(2 * Format.highestExponent(dtype));
        acc.windows = new int256[]((2 * highestField) / 128 + 2);
    }

    /// @notice Adds `terms` products. Factors are at memory addresses `a` and `b`, most significant byte first, and the
    /// next ones `aStep` and `bStep` bytes on.
    function addProducts(
        Acc memory acc,
        uint256 dtype,
        uint256 a,
        uint256 aStep,
        uint256 b,
        uint256 bStep,
        uint256 terms
    ) internal pure {
        unchecked {
            uint256 shift = _shift(dtype);
            uint256 fraction = Format.fractionBits(dtype);
            uint256 infinity = Format.infinity(dtype);
            int256[] memory windows = acc.windows;
            for (; terms != 0; --terms) {
                uint256 x;
                uint256 y;
                assembly ("memory-safe") {
                    // The highest bytes of a word are the float.
                    x := shr(shift, mload(a))
                    y := shr(shift, mload(b))
                }
                a += aStep;
                b += bStep;
                uint256 xMagnitude = x & (infinity | ((1 << fraction) - 1));
                uint256 yMagnitude = y & (infinity | ((1 << fraction) - 1));
                bool negative = (x != xMagnitude) != (y != yMagnitude);
                if (xMagnitude >= infinity || yMagnitude >= infinity) {
                    bool nan = xMagnitude > infinity || yMagnitude > infinity || xMagnitude * yMagnitude == 0;
                    acc.flags |=
                        nan
                            ? 1
                            : negative
                                ? ExactSum.FLAG_NEGATIVE_INFINITY
                                : ExactSum.FLAG_POSITIVE_INFINITY;
                    continue;
                }
                (uint256 p, uint256 xMantissa) = _split(xMagnitude, fraction);
                (uint256 q, uint256 yMantissa) = _split(yMagnitude, fraction);
                p += q;
                int256 term = int256((xMantissa * yMantissa) << (p & 127));
                if (negative) term = -term;
                // SAFETY: p <= twice the highest field, for which there are windows.
                assembly ("memory-safe") {
                    // Window p / 128, 32 bytes each, past the array's length.
                    let window := add(add(windows, 0x20), and(shr(2, p), not(0x1f)))
                    mstore(window, add(mload(window), term))
                }
            }
        }
    }

    /// @dev Field and mantissa; field 0 is a zero or a subnormal: no leading bit, and the exponent of field 1.
    function _split(uint256 magnitude, uint256 fraction) private pure returns (uint256 field, uint256 mantissa) {
        field = magnitude >> fraction;
        if (field == 0) return (1, magnitude);
        mantissa = magnitude ^ ((field ^ 1) << fraction);
    }

    /// @notice The sum rounded once: NaN after a NaN or infinities of both signs, else an infinity if there was one; +0
    /// if empty.
    function round(Acc memory acc, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            if (acc.flags == ExactSum.FLAG_POSITIVE_INFINITY) return Format.infinity(dtype);
            if (acc.flags == ExactSum.FLAG_NEGATIVE_INFINITY) return Format.infinity(dtype) | Format.sign(dtype);
            if (acc.flags != 0) return Format.nan(dtype);
            int256[] memory windows = acc.windows;
            bool negative = _carry(windows) < 0;
            if (negative) {
                for (uint256 k = 0; k < windows.length; ++k) windows[k] = -windows[k];
                _carry(windows);
            }
            // All windows are now below 2^128, and none is negative.
            uint256 top = windows.length - 1;
            while (top != 0 && windows[top] == 0) --top;
            int256 exponent = 2 * Format.lowestExponent(dtype) - 2 + 128 * int256(top);
            if (top == 0) return Float.roundTo(dtype, negative, uint256(windows[0]), exponent, false);
            bool sticky = false;
            for (uint256 k = 0; k + 1 < top; ++k) if (windows[k] != 0) sticky = true;
            uint256 mantissa = (uint256(windows[top]) << 128) | uint256(windows[top - 1]);
            return Float.roundTo(dtype, negative, mantissa, exponent - 128, sticky);
        }
    }

    /// @dev Moves what is above a window's lower 128 bits to the next one; gives what is left in the last one, which
    /// has the sign of all.
    function _carry(int256[] memory windows) private pure returns (int256 last) {
        unchecked {
            uint256 length = windows.length;
            for (uint256 k = 0; k + 1 < length; ++k) {
                int256 window = windows[k];
                windows[k + 1] += window >> 128;
                windows[k] = int256(uint256(window) & LOW_HALF);
            }
            return windows[length - 1];
        }
    }

    /// @dev 256 less the bits of a word.
    function _shift(uint256 dtype) private pure returns (uint256) {
        unchecked {
            return Float32.leadingZeros(Format.sign(dtype));
        }
    }
}
