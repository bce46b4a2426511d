// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Wide} from "./Wide.sol";

/// @title The arc functions on float64. Mirrors src/numerics/elementary64/arc.ts.
/// @dev Each function takes a float64 word x below 2^64 and is correctly rounded.
library Arc64 {
    uint256 private constant PI_OVER_4 = Wide.PI_OVER_2 >> 1;
    /// @dev The series ends with the term z^102/205.
    uint256 private constant LAST_DIVISOR = 205;

    /// @dev atan(p/q) in 0 .. pi/2 for integers 0 <= p, q < 2^254, not both 0; relative error 2^-248, 0 for p = 0.
    function _atanQuotient(uint256 p, uint256 q) private pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            if (p <= q) return _atanUpTo1(p, q);
            (mantissa, exponent) = _atanUpTo1(q, p);
            return _subtractFrom(Wide.PI_OVER_2, mantissa, exponent);
        }
    }

    /// @dev `whole - mantissa * 2^exponent` for a `whole` in Q252.
    function _subtractFrom(uint256 whole, uint256 mantissa, int256 exponent) private pure returns (uint256, int256) {
        unchecked {
            return (whole - Wide.shifted(mantissa, exponent + Wide.FRACTION), -Wide.FRACTION);
        }
    }

    /// @dev atan(p/q) for p <= q; beyond about 2/5 computed as pi/4 - atan((q - p)/(q + p)), with a quotient of at most
    /// 3/7.
    function _atanUpTo1(uint256 p, uint256 q) private pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            bool steep = p > 2 * (q / 5);
            (mantissa, exponent) = steep ? _atanSeries(q - p, q + p) : _atanSeries(p, q);
            if (steep) return _subtractFrom(PI_OVER_4, mantissa, exponent);
        }
    }

    /// @dev atan(p/q) for integers 0 <= p/q < 0.43, q <= 2^255; relative error 2^-249, 0 for p = 0.
    function _atanSeries(uint256 p, uint256 q) private pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            if (p == 0) return (0, -Wide.FRACTION);
            uint256 down = Wide.bitLength(q) - Wide.bitLength(p);
            uint256 s = Wide.over(p << down, q);
            uint256 z = Wide.times(s, s) >> (2 * down);
            uint256 sum = Wide.ONE / LAST_DIVISOR;
            for (uint256 k = LAST_DIVISOR; k > 1;) {
                k -= 2;
                sum = Wide.ONE / k - Wide.times(z, sum);
            }
            return (Wide.times(s, sum), -Wide.FRACTION - int256(down));
        }
    }

    /// @dev sqrt(1 - x^2) for 0 <= x <= 1, all in Q252.
    function _otherLeg(uint256 x) private pure returns (uint256) {
        unchecked {
            uint256 square = Wide.times(Wide.ONE - x, Wide.ONE + x);
            if (square == 0) return 0;
            (uint256 root, int256 exponent) = Wide.squareRoot(square);
            return Wide.shifted(root, exponent + Wide.FRACTION / 2);
        }
    }

    /// @dev The arctangent.
    function atan(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (exponent > 200) return Wide.round(negative, Wide.PI_OVER_2, -Wide.FRACTION);
            uint256 up = exponent > 0 ? uint256(exponent) : 0;
            uint256 down = exponent < 0 ? uint256(-exponent) : 0;
            (mantissa, exponent) = _atanQuotient(mantissa << up, 1 << down);
            return Wide.round(negative, mantissa, exponent);
        }
    }

    /// @dev The arcsine.
    function asin(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.WORD_ONE) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            uint256 sine = Wide.shifted(mantissa, exponent + Wide.FRACTION);
            (mantissa, exponent) = _atanQuotient(sine, _otherLeg(sine));
            return Wide.round(negative, mantissa, exponent);
        }
    }

    /// @dev The arccosine.
    function acos(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.WORD_ONE) return Wide.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            uint256 cosine = Wide.shifted(mantissa, exponent + Wide.FRACTION);
            (mantissa, exponent) = _atanQuotient(_otherLeg(cosine), cosine);
            if (negative) (mantissa, exponent) = _subtractFrom(2 * Wide.PI_OVER_2, mantissa, exponent);
            return Wide.round(false, mantissa, exponent);
        }
    }
}
