// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ExactSum} from "./ExactSum.sol";
import {Float32} from "./Float32.sol";

/// @title The exact sum of many products of float32 words: what most proofs spend their gas in.
/// @dev The same sum as ExactSum's, gathered without carries: a product is `m * 2^(p - 300)` with m < 2^48 and p the sum of both
/// exponent fields; it is added, with its sign, to window p / 128 as `m * 2^(p mod 128)`, below 2^175. A window holds 2^80 terms.
library DotProduct {
    /// @notice The windows, in units of 2^-300, 2^-172, 2^-44 and 2^84, and ExactSum's flags. The empty sum is all zeros.
    struct Windows {
        int256 lowest;
        int256 low;
        int256 high;
        int256 highest;
        uint256 flags;
    }

    /// @dev ExactSum's units are 2^-426.
    uint256 private constant SHIFT = 126;

    /// @notice Adds `terms` products. Factors are at memory addresses `a` and `b`, most significant byte first, and the next ones `aStep` and
    /// `bStep` bytes on.
    function addProducts(
        Windows memory windows,
        uint256 a,
        uint256 aStep,
        uint256 b,
        uint256 bStep,
        uint256 terms
    ) internal pure {
        unchecked {
            while (terms != 0) {
                uint256 x;
                uint256 y;
                // SAFETY: p <= 254 + 254 < 512, so that no write leaves the four windows.
                assembly ("memory-safe") {
                    for {} terms {} {
                        x := mload(a)
                        y := mload(b)
                        let xField := and(shr(247, x), 0xff)
                        let yField := and(shr(247, y), 0xff)
                        let m := mul(or(and(shr(224, x), 0x7fffff), 0x800000), or(and(shr(224, y), 0x7fffff), 0x800000))
                        // Fields 1 .. 254 are normal numbers.
                        if iszero(and(lt(sub(xField, 1), 254), lt(sub(yField, 1), 254))) {
                            if or(eq(xField, 0xff), eq(yField, 0xff)) {
                                break
                            }
                            // Zeros and subnormals: no leading bit, and the exponent of field 1.
                            m := mul(
                                or(and(shr(224, x), 0x7fffff), shl(23, iszero(iszero(xField)))),
                                or(and(shr(224, y), 0x7fffff), shl(23, iszero(iszero(yField))))
                            )
                            xField := add(xField, iszero(xField))
                            yField := add(yField, iszero(yField))
                        }
                        let p := add(xField, yField)
                        let sign := sar(255, xor(x, y))
                        let window := add(windows, and(shr(2, p), 0x60))
                        mstore(window, add(mload(window), sub(xor(shl(and(p, 0x7f), m), sign), sign)))
                        a := add(a, aStep)
                        b := add(b, bStep)
                        terms := sub(terms, 1)
                    }
                }
                if (terms == 0) return;
                windows.flags |= ExactSum.flagOf(Float32.mul(x >> 224, y >> 224));
                a += aStep;
                b += bStep;
                --terms;
            }
        }
    }

    /// @notice The sum rounded once, as ExactSum rounds.
    function round(Windows memory windows) internal pure returns (uint256) {
        ExactSum.Acc memory sum;
        sum.flags = windows.flags;
        _fold(sum, windows.lowest, SHIFT);
        _fold(sum, windows.low, SHIFT + 128);
        _fold(sum, windows.high, SHIFT + 256);
        _fold(sum, windows.highest, SHIFT + 384);
        return ExactSum.round(sum);
    }

    function _fold(ExactSum.Acc memory sum, int256 window, uint256 shift) private pure {
        unchecked {
            if (window < 0) ExactSum.addShifted(sum, 1, uint256(-window), shift);
            else ExactSum.addShifted(sum, 0, uint256(window), shift);
        }
    }
}
