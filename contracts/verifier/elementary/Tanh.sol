// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";

/// @title The hyperbolic tangent on float32. Mirrors src/numerics/elementary/tanh.ts.
library Tanh {
    uint256 private constant BITS_OF_16 = 0x41800000;

    /// @dev The hyperbolic tangent, correctly rounded, for a float32 word x below 2^32.
    function tanh(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude < Fixed.BITS_OF_2_TO_MINUS_12) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude >= BITS_OF_16) return negative ? Float32.NEG_ONE : Float32.ONE;
            (mantissa, exponent) = ExpCore.expFixed(-int256(Fixed.toFixed(mantissa, exponent + 1)));
            uint256 u = mantissa >> uint256(-exponent - Fixed.FRACTION);
            return
                Enclosure.roundEnclosure(dtype, negative, ((Fixed.ONE - u) << 126) / (Fixed.ONE + u), -Fixed.FRACTION);
        }
    }
}
