// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Fixed} from "./Fixed.sol";

/// @title The arctangent of a quotient in scaled integers. Mirrors src/numerics/elementary/atanCore.ts.
library AtanCore {
    uint256 private constant PI_OVER_4 = Fixed.PI_OVER_2 >> 1;
    /// @dev The series ends with the term z^50/101.
    uint256 private constant LAST_DIVISOR = 101;

    /// @dev Returns atan(p/q) in 0 .. pi/2 for integers 0 <= p, q < 2^128, not both 0 and both below 2^127 unless one
    /// is below a fifth of the other; relative error 2^-122, 0 for p = 0.
    function atanQuotient(uint256 p, uint256 q) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            if (p <= q) return atanUpTo1(p, q);
            (mantissa, exponent) = atanUpTo1(q, p);
            return subtractFrom(Fixed.PI_OVER_2, mantissa, exponent);
        }
    }

    /// @dev `whole - mantissa * 2^exponent` for a `whole` in Q126.
    function subtractFrom(uint256 whole, uint256 mantissa, int256 exponent) internal pure returns (uint256, int256) {
        unchecked {
            return (whole - Fixed.toFixed(mantissa, exponent), -Fixed.FRACTION);
        }
    }

    /// @dev Returns atan(p/q) for p <= q; beyond 2/5 computed as pi/4 - atan((q - p)/(q + p)), with a quotient of at
    /// most 3/7.
    function atanUpTo1(uint256 p, uint256 q) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            bool steep = 5 * p > 2 * q;
            (mantissa, exponent) = steep ? atanSeries(q - p, q + p) : atanSeries(p, q);
            if (steep) return subtractFrom(PI_OVER_4, mantissa, exponent);
        }
    }

    /// @dev atan(p/q) for integers 0 <= p/q <= 3/7, q <= 2^128; relative error 2^-123, 0 for p = 0.
    /// Largest numbers: p << shift < 2^255, s * s < 2^254, s * sum < 2^254.
    function atanSeries(uint256 p, uint256 q) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 shift = uint256(Fixed.FRACTION) + Float32.leadingZeros(p) - Float32.leadingZeros(q);
            uint256 s = (p << shift) / q;
            uint256 z = (s * s) >> (2 * shift - uint256(Fixed.FRACTION));
            uint256 sum = Fixed.ONE / LAST_DIVISOR;
            uint256 one = Fixed.ONE;
            // sum = 1/k - z * sum for k = LAST_DIVISOR - 2, .. 3, 1
            assembly ("memory-safe") {
                for {
                    let k := LAST_DIVISOR
                } gt(k, 1) {} {
                    k := sub(k, 2)
                    sum := sub(div(one, k), shr(126, mul(z, sum)))
                }
            }
            return ((s * sum) >> 126, -int256(shift));
        }
    }
}
