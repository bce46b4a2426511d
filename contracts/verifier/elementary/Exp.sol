// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";

/// @title e^x on float32. Mirrors src/numerics/elementary/exp.ts.
library Exp {
    uint256 private constant BITS_OF_128 = 0x43000000;

    /// @dev e^x, correctly rounded, for a float32 word x below 2^32.
    function exp(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            // e^128 > 2^128 overflows, e^-128 < 2^-150 rounds to 0.
            if (magnitude >= BITS_OF_128) return negative ? 0 : Float32.INFINITY;
            int256 t = int256(Fixed.toFixed(mantissa, exponent));
            (mantissa, exponent) = ExpCore.expFixed(negative ? -t : t);
            return Enclosure.roundEnclosure(dtype, false, mantissa, exponent);
        }
    }
}
