// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExpCore64} from "./ExpCore64.sol";
import {LogCore64} from "./LogCore64.sol";
import {Wide} from "./Wide.sol";

/// @title x^y on float64. Mirrors src/numerics/elementary64/pow.ts.
library Pow64 {
    uint256 private constant EVEN = 0;
    uint256 private constant ODD = 1;
    uint256 private constant NO_INTEGER = 2;

    /// @dev x^y, with the special cases of C99 Annex F, for float64 words x and y below 2^64.
    function pow(uint256 x, uint256 y) internal pure returns (uint256) {
        unchecked {
            uint256 xMagnitude = x & Wide.MAGNITUDE;
            uint256 yMagnitude = y & Wide.MAGNITUDE;
            if (yMagnitude == 0 || x == Wide.WORD_ONE) return Wide.WORD_ONE;
            if (xMagnitude > Wide.INFINITY || yMagnitude > Wide.INFINITY) return Wide.NAN;
            bool yNegative = y >= Wide.SIGN;
            if (yMagnitude == Wide.INFINITY) {
                if (xMagnitude == Wide.WORD_ONE) return Wide.WORD_ONE;
                return xMagnitude > Wide.WORD_ONE == yNegative ? 0 : Wide.INFINITY;
            }
            if (xMagnitude == 0) return yNegative ? Wide.INFINITY : 0;
            uint256 parity = _integerParity(yMagnitude);
            bool negative = x >= Wide.SIGN && parity == ODD;
            if (xMagnitude == Wide.INFINITY) {
                if (yNegative) return 0;
                return negative ? Wide.NEG_INFINITY : Wide.INFINITY;
            }
            if (x >= Wide.SIGN && parity == NO_INTEGER) return Wide.NAN;
            return _powPositive(negative, xMagnitude, yNegative, yMagnitude);
        }
    }

    /// @dev EVEN, ODD or NO_INTEGER; `magnitude` is a positive finite float64.
    function _integerParity(uint256 magnitude) private pure returns (uint256) {
        unchecked {
            (, uint256 mantissa, int256 exponent) = Wide.decode(magnitude);
            if (exponent > 0) return EVEN;
            if (exponent <= -53) return NO_INTEGER;
            uint256 fractionBits = uint256(-exponent);
            if (mantissa & ((1 << fractionBits) - 1) != 0) return NO_INTEGER;
            return (mantissa >> fractionBits) & 1 == 1 ? ODD : EVEN;
        }
    }

    /// @dev x^y (negated if `negative`) for finite x, |y| > 0: e^(y log x).
    function _powPositive(bool negative, uint256 x, bool yNegative, uint256 y) private pure returns (uint256) {
        unchecked {
            (bool below, uint256 product, int256 exponent) = _product(x, y);
            below = below != yNegative;
            // The logarithm of 1 is 0, whatever its exponent.
            if (product != 0 && int256(Wide.bitLength(product)) + exponent > 10) {
                if (below) return 0;
                return negative ? Wide.NEG_INFINITY : Wide.INFINITY;
            }
            int256 t = int256(Wide.shifted(product, exponent + Wide.ARGUMENT_FRACTION));
            (product, exponent) = ExpCore64.expFixed(below ? -t : t);
            return Wide.round(negative, product, exponent);
        }
    }

    /// @dev |y log x| = product * 2^exponent, and whether log x is negative.
    function _product(uint256 x, uint256 y) private pure returns (bool below, uint256 product, int256 exponent) {
        unchecked {
            (, product, exponent) = Wide.decode(x);
            (below, product, exponent) = LogCore64.logPositive(product, exponent);
            (, uint256 power, int256 powerExponent) = Wide.decode(y);
            uint256 digits = Wide.bitLength(power);
            product = Wide.times(product, power << (uint256(Wide.FRACTION) - digits));
            exponent += powerExponent + int256(digits);
        }
    }
}
