// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LogCore64} from "./LogCore64.sol";
import {Wide} from "./Wide.sol";

/// @title The logarithm and functions derived from it, on float64. Mirrors src/numerics/elementary64/logarithm.ts.
/// @dev Each function takes a float64 word x below 2^64 and is correctly rounded.
library Logarithm64 {
    /// @dev The natural logarithm.
    function log(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude == 0) return Wide.NEG_INFINITY;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (negative) return Wide.NAN;
            if (magnitude == Wide.INFINITY) return Wide.INFINITY;
            (negative, mantissa, exponent) = LogCore64.logPositive(mantissa, exponent);
            return Wide.round(negative, mantissa, exponent);
        }
    }

    /// @dev log(1 + x).
    function log1p(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_54) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (negative && magnitude >= Wide.WORD_ONE) {
                return magnitude == Wide.WORD_ONE ? Wide.NEG_INFINITY : Wide.NAN;
            }
            if (magnitude == Wide.INFINITY) return Wide.INFINITY;
            (mantissa, exponent) = _onePlus(negative, mantissa, exponent);
            (negative, mantissa, exponent) = LogCore64.logPositive(mantissa, exponent);
            return Wide.round(negative, mantissa, exponent);
        }
    }

    /// @dev 1 +- mantissa * 2^exponent. The mantissa returned is below 2^244.
    function _onePlus(bool negative, uint256 mantissa, int256 exponent) private pure returns (uint256, int256) {
        unchecked {
            if (exponent > 190) return (mantissa, exponent);
            if (exponent >= 0) return ((mantissa << uint256(exponent)) + 1, 0);
            uint256 one = 1 << uint256(-exponent);
            return (negative ? one - mantissa : one + mantissa, exponent);
        }
    }

    /// @dev The inverse hyperbolic sine.
    function asinh(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            if (magnitude == Wide.INFINITY) return x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            return _logOfRoot(negative, mantissa, exponent, false);
        }
    }

    /// @dev The inverse hyperbolic cosine.
    function acosh(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (negative || magnitude < Wide.WORD_ONE) return Wide.NAN;
            if (magnitude == Wide.WORD_ONE) return 0;
            if (magnitude == Wide.INFINITY) return Wide.INFINITY;
            return _logOfRoot(false, mantissa, exponent, true);
        }
    }

    /// @dev log(v + sqrt(v^2 +- 1)) rounded, for v = x * 2^exponent >= 2^-27 (of 53 bits; above 1 where `minus`).
    /// Largest number: x * x + one * one < 2^247.
    function _logOfRoot(bool negative, uint256 x, int256 exponent, bool minus) private pure returns (uint256) {
        unchecked {
            if (exponent > 70) return _roundLog(negative, x, exponent + 1);
            uint256 one = 1;
            if (exponent > 0) (x, exponent) = (x << uint256(exponent), 0);
            else one = 1 << uint256(-exponent);
            (uint256 root, int256 rootExponent) = Wide.squareRoot(minus ? (x - one) * (x + one) : x * x + one * one);
            uint256 up = 250 - Wide.bitLength(x + one);
            x = (x << up) + Wide.shifted(root, rootExponent + int256(up));
            return _roundLog(negative, x, exponent - int256(up));
        }
    }

    /// @dev |log v| rounded, negated if `negative`, for v = mantissa * 2^exponent > 1.
    function _roundLog(bool negative, uint256 mantissa, int256 exponent) private pure returns (uint256) {
        (, mantissa, exponent) = LogCore64.logPositive(mantissa, exponent);
        return Wide.round(negative, mantissa, exponent);
    }

    /// @dev The inverse hyperbolic tangent.
    function atanh(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.WORD_ONE) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (magnitude == Wide.WORD_ONE) return negative ? Wide.NEG_INFINITY : Wide.INFINITY;
            uint256 one = 1 << uint256(-exponent);
            uint256 down = Wide.bitLength(one + mantissa) - Wide.bitLength(one - mantissa);
            mantissa = Wide.over(one + mantissa, (one - mantissa) << down);
            (, mantissa, exponent) = LogCore64.logPositive(mantissa, int256(down) - Wide.FRACTION);
            return Wide.round(negative, mantissa, exponent - 1);
        }
    }
}
