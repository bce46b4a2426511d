// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExpCore64} from "./ExpCore64.sol";
import {Wide} from "./Wide.sol";

/// @title The exponential and functions derived from it, on float64. Mirrors src/numerics/elementary64/exponential.ts.
/// @dev Each function takes a float64 word x below 2^64 and is correctly rounded.
library Exponential64 {
    uint256 private constant BITS_OF_QUARTER = 0x3fd0000000000000;
    uint256 private constant BITS_OF_32 = 0x4040000000000000;
    uint256 private constant BITS_OF_64 = 0x4050000000000000;

    /// @dev e^x.
    function exp(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            // e^1024 overflows, e^-1024 < 2^-1075 rounds to 0.
            if (magnitude >= Wide.BITS_OF_1024) return negative ? 0 : Wide.INFINITY;
            (mantissa, exponent) = ExpCore64.expFixed(_argument(negative, mantissa, exponent));
            return Wide.round(false, mantissa, exponent);
        }
    }

    /// @dev e^x - 1.
    function expm1(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_54) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (magnitude >= (negative ? BITS_OF_64 : Wide.BITS_OF_1024)) {
                return negative ? Wide.NEG_ONE : Wide.INFINITY;
            }
            if (magnitude < BITS_OF_QUARTER) {
                uint256 r = Wide.shifted(mantissa, exponent + Wide.FRACTION);
                uint256 quotient = ExpCore64.expm1Quotient(negative, r);
                return Wide.round(negative, Wide.times(mantissa << 199, quotient), exponent - 199);
            }
            (mantissa, exponent) = ExpCore64.expFixed(_argument(negative, mantissa, exponent));
            int256 n = exponent + Wide.FRACTION;
            if (negative) return Wide.round(true, Wide.ONE - Wide.shifted(mantissa, n), -Wide.FRACTION);
            return Wide.round(false, mantissa - Wide.shifted(Wide.ONE, -n), exponent);
        }
    }

    /// @dev The logistic function.
    function sigmoid(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (magnitude >= Wide.BITS_OF_1024) return negative ? 0 : Wide.WORD_ONE;
            (mantissa, exponent) = ExpCore64.expFixed(_argument(true, mantissa, exponent));
            uint256 denominator = Wide.ONE + Wide.shifted(mantissa, exponent + Wide.FRACTION);
            if (negative) return Wide.round(false, Wide.over(mantissa, denominator), exponent);
            return Wide.round(false, Wide.over(Wide.ONE, denominator), -Wide.FRACTION);
        }
    }

    /// @dev The hyperbolic tangent.
    function tanh(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (magnitude >= BITS_OF_32) return negative ? Wide.NEG_ONE : Wide.WORD_ONE;
            (mantissa, exponent) = ExpCore64.expFixed(_argument(true, mantissa, exponent + 1));
            uint256 u = Wide.shifted(mantissa, exponent + Wide.FRACTION);
            return Wide.round(negative, Wide.over(Wide.ONE - u, Wide.ONE + u), -Wide.FRACTION);
        }
    }

    /// @dev The hyperbolic sine.
    function sinh(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (magnitude >= Wide.BITS_OF_1024) return negative ? Wide.NEG_INFINITY : Wide.INFINITY;
            uint256 decaying;
            (mantissa, decaying, exponent) = _both(mantissa, exponent);
            return Wide.round(negative, mantissa - decaying, exponent - 1);
        }
    }

    /// @dev The hyperbolic cosine.
    function cosh(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude >= Wide.BITS_OF_1024) return Wide.INFINITY;
            (, uint256 mantissa, int256 exponent) = Wide.decode(x);
            uint256 decaying;
            (mantissa, decaying, exponent) = _both(mantissa, exponent);
            return Wide.round(false, mantissa + decaying, exponent - 1);
        }
    }

    /// @dev `mantissa * 2^exponent` below 2^10 in Q244, negated if `negative`.
    function _argument(bool negative, uint256 mantissa, int256 exponent) private pure returns (int256) {
        unchecked {
            int256 t = int256(Wide.shifted(mantissa, exponent + Wide.ARGUMENT_FRACTION));
            return negative ? -t : t;
        }
    }

    function _both(uint256 mantissa, int256 exponent) private pure returns (uint256, uint256, int256) {
        unchecked {
            return ExpCore64.expBoth(Wide.shifted(mantissa, exponent + Wide.ARGUMENT_FRACTION));
        }
    }
}
