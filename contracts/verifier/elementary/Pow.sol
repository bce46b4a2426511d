// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";
import {LogCore} from "./LogCore.sol";

/// @title x^y on float32. Mirrors src/numerics/elementary/pow.ts.
library Pow {
    uint256 private constant SIGN = 0x80000000;
    uint256 private constant EVEN = 0;
    uint256 private constant ODD = 1;
    uint256 private constant NO_INTEGER = 2;

    /// @dev x^y, correctly rounded, with the special cases of C99 Annex F, for float32 words x and y below 2^32.
    function pow(uint256 x, uint256 y, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 xMagnitude = x & 0x7fffffff;
            uint256 yMagnitude = y & 0x7fffffff;
            if (yMagnitude == 0 || x == Float32.ONE) return Float32.ONE;
            if (xMagnitude > Float32.INFINITY || yMagnitude > Float32.INFINITY) return Float32.NAN;
            bool yNegative = y >= SIGN;
            if (yMagnitude == Float32.INFINITY) {
                if (xMagnitude == Float32.ONE) return Float32.ONE;
                return xMagnitude > Float32.ONE == yNegative ? 0 : Float32.INFINITY;
            }
            if (xMagnitude == 0) return yNegative ? Float32.INFINITY : 0;
            uint256 parity = integerParity(yMagnitude);
            bool negative = x >= SIGN && parity == ODD;
            if (xMagnitude == Float32.INFINITY) {
                if (yNegative) return 0;
                return negative ? Float32.NEG_INFINITY : Float32.INFINITY;
            }
            if (x >= SIGN && parity == NO_INTEGER) return Float32.NAN;
            return powPositive(dtype, negative, xMagnitude, yNegative, yMagnitude);
        }
    }

    /// @dev EVEN, ODD or NO_INTEGER; `magnitude` is a positive finite float32.
    function integerParity(uint256 magnitude) internal pure returns (uint256) {
        unchecked {
            (, uint256 mantissa, int256 exponent) = Float32.decode(magnitude);
            if (exponent > 0) return EVEN;
            if (exponent <= -24) return NO_INTEGER;
            uint256 fractionBits = uint256(-exponent);
            if (mantissa & ((1 << fractionBits) - 1) != 0) return NO_INTEGER;
            return (mantissa >> fractionBits) & 1 == 1 ? ODD : EVEN;
        }
    }

    /// @dev x^y (negated if `negative`) for finite x, |y| > 0: e^(y log x). Largest number: product < 2^160.
    function powPositive(
        uint256 dtype,
        bool negative,
        uint256 x,
        bool yNegative,
        uint256 y
    ) internal pure returns (uint256) {
        unchecked {
            (, uint256 mantissa, int256 exponent) = Float32.decode(x);
            (, uint256 power, int256 powerExponent) = Float32.decode(y);
            bool logNegative;
            (logNegative, mantissa, exponent) = LogCore.logPositive(mantissa, exponent);
            uint256 product = mantissa * power;
            exponent += powerExponent;
            bool below = logNegative != yNegative;
            if (256 - int256(Float32.leadingZeros(product)) + exponent > 8) {
                if (below) return 0;
                return negative ? Float32.NEG_INFINITY : Float32.INFINITY;
            }
            int256 t = int256(Fixed.toFixed(product, exponent));
            (mantissa, exponent) = ExpCore.expFixed(below ? -t : t);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }
}
