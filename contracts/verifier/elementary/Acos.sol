// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {AtanCore} from "./AtanCore.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";

/// @title The arccosine on float32. Mirrors src/numerics/elementary/acos.ts.
library Acos {
    /// @dev The arccosine, correctly rounded, for a float32 word x below 2^32.
    function acos(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.ONE) return Float32.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            uint256 cosine = Fixed.toFixed(mantissa, exponent);
            uint256 sine = Float32.integerSqrt((Fixed.ONE << 126) - cosine * cosine);
            (mantissa, exponent) = AtanCore.atanQuotient(sine, cosine);
            if (negative) (mantissa, exponent) = AtanCore.subtractFrom(2 * Fixed.PI_OVER_2, mantissa, exponent);
            return Enclosure.roundEnclosure(dtype, false, mantissa, exponent);
        }
    }
}
