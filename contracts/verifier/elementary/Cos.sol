// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {Fixed} from "./Fixed.sol";
import {TrigCore} from "./TrigCore.sol";

/// @title The cosine on float32. Mirrors src/numerics/elementary/cos.ts.
library Cos {
    /// @dev The cosine, correctly rounded, for a float32 word x below 2^32.
    function cos(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude >= Float32.INFINITY) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return Float32.ONE;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            (negative, mantissa, exponent) = TrigCore.sinShifted(mantissa, exponent, 1);
            return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent);
        }
    }
}
