// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";
import {TrigCore} from "./TrigCore.sol";

/// @title The tangent on float32. Mirrors src/numerics/elementary/tan.ts.
library Tan {
    /// @dev The tangent, correctly rounded, for a float32 word x below 2^32.
    function tan(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude >= Float32.INFINITY) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            TrigCore.Angle memory angle = TrigCore.reduceAngle(mantissa, exponent);
            (mantissa, exponent) = TrigCore.sinTheta(angle);
            uint256 cosine = TrigCore.cosTheta(angle);
            bool below = negative != angle.negative;
            if (angle.quadrant & 1 == 0) {
                return Enclosure.roundEnclosure(dtype, below, mantissa / cosine, exponent + Fixed.FRACTION);
            }
            uint256 quotient = (cosine << 126) / (mantissa >> 126);
            return Enclosure.roundEnclosure(dtype, !below, quotient, -3 * Fixed.FRACTION - exponent);
        }
    }
}
