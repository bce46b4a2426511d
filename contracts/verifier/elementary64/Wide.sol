// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "../DType.sol";
import {Float} from "../Float.sol";
import {Float32} from "../Float32.sol";

/// @title Fixed point with 252 fraction bits (Q252), in which the elementary functions of float64 are computed. Mirrors
/// src/numerics/elementary64/wide.ts and float64.ts.
library Wide {
    int256 internal constant FRACTION = 252;
    /// @dev 1 in Q252.
    uint256 internal constant ONE = 1 << 252;
    /// @dev The fraction bits in the arguments for e^t and logarithms: Q244.
    int256 internal constant ARGUMENT_FRACTION = 244;
    /// @dev ln 2 in Q244, to the nearest.
    int256 internal constant LN2 = 0xb17217f7d1cf79abc9e3b39803f2f6af40f343267298b62d8a0d175b8bab0;
    /// @dev pi/2 in Q252, to the nearest.
    uint256 internal constant PI_OVER_2 = 0x1921fb54442d18469898cc51701b839a252049c1114cf98e804177d4c7627364;

    /// @dev Words of float64.
    uint256 internal constant WORD_ONE = 0x3ff0000000000000;
    uint256 internal constant NEG_ONE = 0xbff0000000000000;
    uint256 internal constant INFINITY = 0x7ff0000000000000;
    uint256 internal constant NEG_INFINITY = 0xfff0000000000000;
    uint256 internal constant NAN = 0x7ff8000000000000;
    uint256 internal constant SIGN = 1 << 63;
    uint256 internal constant MAGNITUDE = SIGN - 1;

    /// @dev Below 2^-27 a function that differs from x by less than x^3/3 + |x|^5 rounds to x.
    uint256 internal constant BITS_OF_2_TO_MINUS_27 = 0x3e40000000000000;
    uint256 internal constant BITS_OF_2_TO_MINUS_54 = 0x3c90000000000000;
    /// @dev From 2^10 on the exponential of float64 over- or underflows.
    uint256 internal constant BITS_OF_1024 = 0x4090000000000000;

    /// @dev A finite word as `(-1)^negative * mantissa * 2^exponent`.
    function decode(uint256 x) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        return Float.decode(x, DType.FLOAT64);
    }

    /// @dev The number of significant bits; 0 for 0.
    function bitLength(uint256 value) internal pure returns (uint256) {
        unchecked {
            return 256 - Float32.leadingZeros(value);
        }
    }

    /// @dev Multiplies two numbers, one in Q252; the product has the other's format and must be below 2^256.
    function times(uint256 a, uint256 b) internal pure returns (uint256 product) {
        assembly ("memory-safe") {
            // The product has the words high and low: their difference modulo 2^256 - 1 is that of the product.
            let low := mul(a, b)
            let rest := mulmod(a, b, not(0))
            let high := sub(sub(rest, low), lt(rest, low))
            product := or(shl(4, high), shr(252, low))
        }
    }

    /// @dev Divides two numbers with the same format; the quotient is in Q252 and must be below 2^256.
    function over(uint256 a, uint256 b) internal pure returns (uint256) {
        return divide(a, ONE, b);
    }

    /// @dev Returns a * b / d, cut down, for a quotient below 2^256 and d > 0. The 512-bit product less its remainder
    /// is divided by the power of two in d, then multiplied by the odd part's inverse modulo 2^256 (the odd part of d).
    /// Newton's steps find the inverse: 3 d xor 2 is right in 4 bits, and each step doubles the number of right bits.
    function divide(uint256 a, uint256 b, uint256 d) internal pure returns (uint256 quotient) {
        assembly ("memory-safe") {
            let low := mul(a, b)
            let rest := mulmod(a, b, not(0))
            let high := sub(sub(rest, low), lt(rest, low))
            rest := mulmod(a, b, d)
            high := sub(high, gt(rest, low))
            low := sub(low, rest)
            let power := and(d, sub(0, d))
            d := div(d, power)
            // high * 2^256 / power; modulo 2^256 that is 0 for a power of 1.
            low := or(div(low, power), mul(high, add(div(sub(0, power), power), 1)))
            let inverse := xor(mul(3, d), 2)
            inverse := mul(inverse, sub(2, mul(d, inverse)))
            inverse := mul(inverse, sub(2, mul(d, inverse)))
            inverse := mul(inverse, sub(2, mul(d, inverse)))
            inverse := mul(inverse, sub(2, mul(d, inverse)))
            inverse := mul(inverse, sub(2, mul(d, inverse)))
            inverse := mul(inverse, sub(2, mul(d, inverse)))
            quotient := mul(low, inverse)
        }
    }

    /// @dev `value * 2^shift`, cut down. The caller must keep the result below 2^256.
    function shifted(uint256 value, int256 shift) internal pure returns (uint256) {
        unchecked {
            return shift >= 0 ? value << uint256(shift) : value >> uint256(-shift);
        }
    }

    /// @dev The square root of 0 < value < 2^254: relative error below 2^-251, mantissa below 2^255.
    function squareRoot(uint256 value) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 shift = (254 - bitLength(value)) & ~uint256(1);
            uint256 radicand = value << shift;
            uint256 root = Float32.integerSqrt(radicand);
            return ((root << 127) + divide(radicand, 1 << 127, root), -int256(128 + shift / 2));
        }
    }

    /// @dev Rounds an approximation `mantissa * 2^exponent` (negated if `negative`) with the relative half-width
    /// 2^-216; where the enclosure holds a rounding boundary, the value is that boundary and rounds to the even
    /// neighbour.
    function round(bool negative, uint256 mantissa, int256 exponent) internal pure returns (uint256 low) {
        unchecked {
            uint256 halfWidth = mantissa >> 216;
            low = Float.roundTo(DType.FLOAT64, negative, mantissa - halfWidth, exponent, false);
            uint256 high = Float.roundTo(DType.FLOAT64, negative, mantissa + halfWidth, exponent, false);
            if (low != high && low & 1 != 0) low = high;
        }
    }
}
