// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {AtanCore} from "./AtanCore.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";

/// @title The arctangent on float32. Mirrors src/numerics/elementary/atan.ts.
library Atan {
    /// @dev The arctangent, correctly rounded, for a float32 word x below 2^32.
    function atan(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude == Float32.INFINITY) {
                return Enclosure.roundEnclosure(dtype, negative, Fixed.PI_OVER_2, -Fixed.FRACTION);
            }
            uint256 up = exponent > 0 ? uint256(exponent) : 0;
            uint256 down = exponent < 0 ? uint256(-exponent) : 0;
            (mantissa, exponent) = AtanCore.atanQuotient(mantissa << up, 1 << down);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }
}
