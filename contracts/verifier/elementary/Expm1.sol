// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";

/// @title e^x - 1 on float32. Mirrors src/numerics/elementary/expm1.ts.
library Expm1 {
    uint256 private constant BITS_OF_2_TO_MINUS_25 = 0x33000000;
    uint256 private constant BITS_OF_QUARTER = 0x3e800000;
    uint256 private constant BITS_OF_89 = 0x42b20000;

    /// @dev e^x - 1, correctly rounded, for a float32 word x below 2^32.
    function expm1(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            if (magnitude < BITS_OF_2_TO_MINUS_25) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude >= BITS_OF_89) return negative ? Float32.NEG_ONE : Float32.INFINITY;
            int256 t = int256(Fixed.toFixed(mantissa, exponent));
            int256 r = negative ? -t : t;
            if (magnitude < BITS_OF_QUARTER) {
                mantissa *= uint256(ExpCore.expm1Quotient(r));
                return Enclosure.roundEnclosure(dtype, negative, mantissa, exponent - Fixed.FRACTION);
            }
            (mantissa, exponent) = ExpCore.expFixed(r);
            // Below 1.42 * 2^254: the exponent is at most 128 - 126.
            uint256 power = Fixed.toFixed(mantissa, exponent);
            return
                Enclosure.roundEnclosure(
                    dtype,
                    negative,
                    negative ? Fixed.ONE - power : power - Fixed.ONE,
                    -Fixed.FRACTION
                );
        }
    }
}
