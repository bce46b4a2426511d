// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";

/// @title The logistic function on float32. Mirrors src/numerics/elementary/sigmoid.ts.
library Sigmoid {
    uint256 private constant BITS_OF_104 = 0x42d00000;

    /// @dev The logistic function, correctly rounded, for a float32 word x below 2^32.
    function sigmoid(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude >= BITS_OF_104) return negative ? 0 : Float32.ONE;
            (mantissa, exponent) = ExpCore.expFixed(-int256(Fixed.toFixed(mantissa, exponent)));
            uint256 denominator = Fixed.ONE + (mantissa >> uint256(-exponent - Fixed.FRACTION));
            if (negative) return Enclosure.roundEnclosure(dtype, false, (mantissa << 126) / denominator, exponent);
            return Enclosure.roundEnclosure(dtype, false, (Fixed.ONE << 126) / denominator, -Fixed.FRACTION);
        }
    }
}
