// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Fixed} from "./Fixed.sol";

/// @title The logarithm in scaled integers. Mirrors src/numerics/elementary/logCore.ts.
library LogCore {
    /// @dev The series ends with the term z^24/49.
    uint256 private constant LAST_DIVISOR = 49;

    /// @dev 2 atanh(p/q) = log((q + p)/(q - p)) for integers 0 < p/q <= 3 - 2 sqrt(2), q < 2^128; relative error
    /// 2^-123. Largest numbers: p << shift < 2^254, s * s < 2^254, s * sum < 2^254.
    function logQuotient(uint256 p, uint256 q) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 shift = uint256(Fixed.FRACTION) + Float32.leadingZeros(p) - Float32.leadingZeros(q);
            uint256 s = (p << shift) / q;
            uint256 z = (s * s) >> (2 * shift - uint256(Fixed.FRACTION));
            uint256 sum = Fixed.ONE / LAST_DIVISOR;
            uint256 one = Fixed.ONE;
            // sum = 1/k + z * sum for k = LAST_DIVISOR - 2, .. 3, 1
            assembly ("memory-safe") {
                for {
                    let k := LAST_DIVISOR
                } gt(k, 1) {} {
                    k := sub(k, 2)
                    sum := add(div(one, k), shr(126, mul(z, sum)))
                }
            }
            return ((s * sum) >> 126, 1 - int256(shift));
        }
    }

    /// @dev |log v| and its sign, for v = x * 2^xExponent with 0 < x < 2^127 and |log2 v| < 2^9; relative error 2^-122,
    /// also next to 1.
    function logPositive(
        uint256 x,
        int256 xExponent
    ) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 bits = 256 - Float32.leadingZeros(x);
            bool above = x * x > 1 << (2 * bits - 1);
            uint256 unitBits = above ? bits : bits - 1;
            uint256 unit = 1 << unitBits;
            int256 k = xExponent + int256(unitBits);
            if (x == unit) return scaledLn2(k);
            bool below = x < unit;
            (mantissa, exponent) = logQuotient(below ? unit - x : x - unit, x + unit);
            if (k == 0) return (below, mantissa, exponent);
            int256 magnitude = int256(mantissa >> uint256(-exponent - Fixed.FRACTION));
            int256 total = k * Fixed.LN2 + (below ? -magnitude : magnitude);
            return total < 0 ? (true, uint256(-total), -Fixed.FRACTION) : (false, uint256(total), -Fixed.FRACTION);
        }
    }

    function scaledLn2(int256 k) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        unchecked {
            return (k < 0, uint256((k < 0 ? -k : k) * Fixed.LN2), -Fixed.FRACTION);
        }
    }
}
