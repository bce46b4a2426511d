// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {AtanCore} from "./AtanCore.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";

/// @title The arcsine on float32. Mirrors src/numerics/elementary/asin.ts.
library Asin {
    /// @dev The arcsine, correctly rounded, for a float32 word x below 2^32.
    function asin(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.ONE) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            uint256 sine = Fixed.toFixed(mantissa, exponent);
            uint256 cosine = Float32.integerSqrt((Fixed.ONE << 126) - sine * sine);
            (mantissa, exponent) = AtanCore.atanQuotient(sine, cosine);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }
}
