// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {LogCore} from "./LogCore.sol";

/// @title log(1 + x) on float32. Mirrors src/numerics/elementary/log1p.ts.
library Log1p {
    uint256 private constant BITS_OF_2_TO_MINUS_25 = 0x33000000;

    /// @dev log(1 + x), correctly rounded, for a float32 word x below 2^32.
    function log1p(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude < BITS_OF_2_TO_MINUS_25) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (negative && magnitude >= Float32.ONE) {
                return magnitude == Float32.ONE ? Float32.NEG_INFINITY : Float32.NAN;
            }
            if (magnitude == Float32.INFINITY) return Float32.INFINITY;
            (mantissa, exponent) = onePlus(negative, mantissa, exponent);
            (negative, mantissa, exponent) = LogCore.logPositive(mantissa, exponent);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }

    /// @dev 1 +- mantissa * 2^exponent. The mantissa returned is below 2^125.
    function onePlus(bool negative, uint256 mantissa, int256 exponent) internal pure returns (uint256, int256) {
        unchecked {
            if (exponent > 100) return (mantissa, exponent);
            if (exponent >= 0) return ((mantissa << uint256(exponent)) + 1, 0);
            uint256 one = 1 << uint256(-exponent);
            return (negative ? one - mantissa : one + mantissa, exponent);
        }
    }
}
