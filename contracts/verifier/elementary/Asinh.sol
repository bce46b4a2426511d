// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";
import {LogCore} from "./LogCore.sol";

/// @title The inverse hyperbolic sine on float32. Mirrors src/numerics/elementary/asinh.ts.
library Asinh {
    /// @dev The inverse hyperbolic sine, correctly rounded, for a float32 word x below 2^32.
    function asinh(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            if (magnitude == Float32.INFINITY) return x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            int256 fraction = 100 - (exponent > -24 ? exponent : -24);
            uint256 scaled = mantissa << uint256(exponent + fraction);
            uint256 one = fraction >= 0 ? 1 << uint256(2 * fraction) : 0;
            // Below 2^125.
            mantissa = scaled + Float32.integerSqrt(scaled * scaled + one);
            (, mantissa, exponent) = LogCore.logPositive(mantissa, -fraction);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }
}
