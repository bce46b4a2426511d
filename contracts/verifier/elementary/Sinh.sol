// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";

/// @title The hyperbolic sine on float32. Mirrors src/numerics/elementary/sinh.ts.
library Sinh {
    uint256 private constant BITS_OF_90 = 0x42b40000;

    /// @dev The hyperbolic sine, correctly rounded, for a float32 word x below 2^32.
    function sinh(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude >= BITS_OF_90) return negative ? Float32.NEG_INFINITY : Float32.INFINITY;
            uint256 decaying;
            (mantissa, decaying, exponent) = ExpCore.expBoth(Fixed.toFixed(mantissa, exponent));
            return Enclosure.roundEnclosure(dtype, negative, mantissa - decaying, exponent - 1);
        }
    }
}
