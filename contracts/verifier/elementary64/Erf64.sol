// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExpCore64} from "./ExpCore64.sol";
import {Wide} from "./Wide.sol";

/// @title The error function on float64. Mirrors src/numerics/elementary64/erf.ts.
library Erf64 {
    /// @dev 2/sqrt(pi) in Q252, to the nearest.
    uint256 private constant TWO_OVER_SQRT_PI = 0x120dd750429b6d11ae3a914fed7fd8688281341d7587cea2e7342b06199cc416;
    uint256 private constant BITS_OF_6 = 0x4018000000000000;
    /// @dev The sum of the series has 248 - n fraction bits, where e^(x^2) is about 2^n.
    int256 private constant SUM_FRACTION = 248;

    /// @dev The error function, correctly rounded, for a float64 word x below 2^64.
    function erf(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude > Wide.INFINITY) return Wide.NAN;
            if (magnitude == 0) return 0;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            if (magnitude >= BITS_OF_6) return negative ? Wide.NEG_ONE : Wide.WORD_ONE;
            uint256 digits = Wide.bitLength(mantissa);
            uint256 c = Wide.times(_scaledSeries(mantissa * mantissa, 2 * exponent), TWO_OVER_SQRT_PI);
            mantissa = Wide.times(c, mantissa << (uint256(Wide.FRACTION) - digits));
            return Wide.round(negative, mantissa, exponent + int256(digits) - SUM_FRACTION);
        }
    }

    /// @dev e^(-x^2) S in Q248 for x^2 = square * 2^exponent.
    function _scaledSeries(uint256 square, int256 exponent) private pure returns (uint256) {
        unchecked {
            uint256 bits = Wide.bitLength(square);
            int256 t = int256(Wide.shifted(square, exponent + Wide.ARGUMENT_FRACTION));
            (uint256 power, int256 powerExponent) = ExpCore64.expFixed(-t);
            uint256 mantissa = square << (uint256(Wide.FRACTION) - bits);
            uint256 sum = _kummerSum(mantissa, int256(bits) + exponent + 1, -powerExponent - Wide.FRACTION);
            return Wide.times(power, sum);
        }
    }

    /// @dev S for w = mantissa * 2^(wExponent - 252), mantissa in 2^251 .. 2^252, with 248 - n fraction bits.
    function _kummerSum(uint256 mantissa, int256 wExponent, int256 n) private pure returns (uint256 sum) {
        unchecked {
            uint256 term = Wide.ONE >> 1;
            int256 exponent = 1 - n - Wide.FRACTION + SUM_FRACTION;
            uint256 share = 1;
            for (uint256 divisor = 3; share > 0; divisor += 2) {
                share = Wide.shifted(term, exponent);
                sum += share;
                term = Wide.times(term, mantissa) / divisor;
                uint256 up = uint256(Wide.FRACTION) - Wide.bitLength(term);
                term <<= up;
                exponent += wExponent - int256(up);
            }
        }
    }
}
