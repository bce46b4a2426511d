// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Enclosure} from "./Enclosure.sol";
import {ExpCore} from "./ExpCore.sol";
import {Fixed} from "./Fixed.sol";

/// @title The error function on float32. Mirrors src/numerics/elementary/erf.ts.
library Erf {
    /// @dev Fraction bits of the series: the terms stay below 2^18 and w below 2^5, and the product therefore fits 256
    /// bits.
    int256 private constant SERIES_FRACTION = 112;
    /// @dev 2/sqrt(pi) with 112 fraction bits, to the nearest.
    uint256 private constant TWO_OVER_SQRT_PI = 0x120dd750429b6d11ae3a914fed7fe;
    uint256 private constant BITS_OF_4 = 0x40800000;

    /// @dev The error function, correctly rounded, for a float32 word x below 2^32.
    /// Largest numbers: sum * power < 2^242, c * mantissa * TWO_OVER_SQRT_PI < 2^250.
    function erf(uint256 x, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & 0x7fffffff;
            if (magnitude > Float32.INFINITY) return Float32.NAN;
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(x);
            if (magnitude >= BITS_OF_4) return negative ? Float32.NEG_ONE : Float32.ONE;
            uint256 square = Fixed.toFixed(mantissa * mantissa, 2 * exponent);
            (uint256 power, int256 powerExponent) = ExpCore.expFixed(-int256(square));
            uint256 sum = kummerSeries(square >> 13) >> uint256(-powerExponent - Fixed.FRACTION);
            uint256 c = (sum * power) >> 126;
            return
                Enclosure.roundEnclosure(
                    dtype,
                    negative,
                    c * mantissa * TWO_OVER_SQRT_PI,
                    exponent - 2 * SERIES_FRACTION
                );
        }
    }

    /// @dev 1 + w/3 + w^2/(3*5) + ... for w in Q112, below 32: at most 100 rounds until the terms vanish. Largest
    /// number: term * w < 2^247.
    function kummerSeries(uint256 w) internal pure returns (uint256 sum) {
        uint256 term = 1 << 112;
        assembly ("memory-safe") {
            sum := term
            // Two terms per round; after a term of 0, all later terms are 0.
            for {
                let divisor := shl(112, 3)
            } term {
                divisor := add(divisor, shl(112, 2))
            } {
                term := div(mul(term, w), divisor)
                sum := add(sum, term)
                divisor := add(divisor, shl(112, 2))
                term := div(mul(term, w), divisor)
                sum := add(sum, term)
            }
        }
    }
}
