// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";
import {LogCore} from "./LogCore.sol";

/// @title The inverse hyperbolic tangent on float32. Mirrors src/numerics/elementary/atanh.ts.
library Atanh {
    /// @dev The inverse hyperbolic tangent, correctly rounded, for a float32 word x below 2^32.
    function atanh(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.ONE) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude == Float32.ONE) return negative ? Float32.NEG_INFINITY : Float32.INFINITY;
            uint256 one = 1 << uint256(-exponent);
            // The shifted numerator is below 2^162, because one - mantissa stays below 2^36, and the quotient below
            // 2^127.
            uint256 shift =
                uint256(Fixed.FRACTION) + Float32.leadingZeros(one + mantissa) - Float32.leadingZeros(one - mantissa);
            uint256 quotient = ((one + mantissa) << shift) / (one - mantissa);
            (, mantissa, exponent) = LogCore.logPositive(quotient, -int256(shift));
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent - 1);
        }
    }
}
