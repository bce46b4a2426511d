// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {LogCore} from "./LogCore.sol";

/// @title The inverse hyperbolic cosine on float32. Mirrors src/numerics/elementary/acosh.ts.
library Acosh {
    /// @dev The inverse hyperbolic cosine, correctly rounded, for a float32 word x below 2^32.
    function acosh(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (negative || magnitude < Float32.ONE) return Float32.NAN;
            if (magnitude == Float32.ONE) return 0;
            if (magnitude == Float32.INFINITY) return Float32.INFINITY;
            int256 fraction = 100 - exponent;
            uint256 scaled = mantissa << 100;
            uint256 one = fraction >= 0 ? 1 << uint256(2 * fraction) : 0;
            // Below 2^125.
            mantissa = scaled + Float32.integerSqrt(scaled * scaled - one);
            (, mantissa, exponent) = LogCore.logPositive(mantissa, -fraction);
            return Enclosure.roundEnclosure(dtype, false, mantissa, exponent);
        }
    }
}
