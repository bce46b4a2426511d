// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Fixed} from "./Fixed.sol";

/// @title Sine and cosine in scaled integers. Mirrors src/numerics/elementary/trigCore.ts.
library TrigCore {
    /// @dev 2/pi with 384 fraction bits, cut down: TWO_OVER_PI_HIGH * 2^128 + TWO_OVER_PI_LOW.
    uint256 private constant TWO_OVER_PI_HIGH = 0xa2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561;
    uint256 private constant TWO_OVER_PI_LOW = 0xb7246e3a424dd2e006492eea09d1921c;
    /// @dev Quarter turns have 220 fraction bits; the window of 2/pi that matters, 2 more.
    uint256 private constant WINDOW = (1 << 222) - 1;
    uint256 private constant ONE_QUARTER_TURN = 1 << 220;

    /// @dev The last terms of the two series are z^15/31! and z^16/32!.
    uint256 private constant LAST_OF_SIN = 31;
    uint256 private constant LAST_OF_COS = 32;

    /// @dev `quadrant` quarter turns (modulo 4) plus theta (negated if `negative`), 0 < theta <= pi/4:
    /// theta = mantissa * 2^exponent, mantissa in 2^125 .. 2^127.
    struct Angle {
        uint256 quadrant;
        bool negative;
        uint256 mantissa;
        int256 exponent;
    }

    /// @dev x * 2^xExponent as an angle, for a float32 of at least 2^-12 (Payne and Hanek): theta to 2^-123 relative.
    /// Largest numbers: turns < 2^246, fraction * PI_OVER_2 < 2^253.
    function reduceAngle(uint256 x, int256 xExponent) internal pure returns (Angle memory angle) {
        unchecked {
            uint256 shift = uint256(164 - xExponent); // 60 .. 199
            uint256 window =
                shift < 128
                    ? (TWO_OVER_PI_HIGH << (128 - shift)) | (TWO_OVER_PI_LOW >> shift)
                    : TWO_OVER_PI_HIGH >> (shift - 128);
            uint256 turns = x * (window & WINDOW);
            uint256 above = turns & (ONE_QUARTER_TURN - 1);
            bool negative = above > ONE_QUARTER_TURN >> 1;
            uint256 fraction = negative ? ONE_QUARTER_TURN - above : above;
            uint256 drop = 130 - Float32.leadingZeros(fraction);
            angle.quadrant = (((turns >> 220) & 3) + (negative ? 1 : 0)) & 3;
            angle.negative = negative;
            angle.mantissa = ((fraction >> drop) * Fixed.PI_OVER_2) >> 126;
            angle.exponent = int256(drop) - 220;
        }
    }

    /// @dev sin theta, without the sign; relative error 2^-122, mantissa in 2^250 .. 2^253.
    function sinTheta(Angle memory angle) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            return (angle.mantissa * series(square(angle), LAST_OF_SIN), angle.exponent - Fixed.FRACTION);
        }
    }

    /// @dev cos theta in Q126; relative error 2^-123.
    function cosTheta(Angle memory angle) internal pure returns (uint256) {
        return series(square(angle), LAST_OF_COS);
    }

    /// @dev sin(x * 2^xExponent + quarters * pi/2) and its sign, for a float32 of at least 2^-12; relative error
    /// 2^-122.
    function sinShifted(
        uint256 x,
        int256 xExponent,
        uint256 quarters
    ) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        unchecked {
            Angle memory angle = reduceAngle(x, xExponent);
            uint256 quadrant = angle.quadrant + quarters;
            negative = quadrant & 2 != 0;
            if (quadrant & 1 == 1) return (negative, cosTheta(angle), -Fixed.FRACTION);
            (mantissa, exponent) = sinTheta(angle);
            return (negative != angle.negative, mantissa, exponent);
        }
    }

    /// @dev theta^2 in Q126, at most 0.617.
    function square(Angle memory angle) internal pure returns (uint256) {
        unchecked {
            return (angle.mantissa * angle.mantissa) >> uint256(-2 * angle.exponent - Fixed.FRACTION);
        }
    }

    /// @dev 1 - z/(m(m + 1)) + z^2/(m(m + 1)(m + 2)(m + 3)) - ..., up to the divisor `last`!, with m = 1 for an even
    /// `last` (cos) and 2 for an odd one (sin theta/theta). Largest number: z * sum < 2^252.
    function series(uint256 z, uint256 last) internal pure returns (uint256 sum) {
        sum = Fixed.ONE;
        uint256 one = Fixed.ONE;
        // sum = 1 - z * sum / (k(k - 1)) for k = last, last - 2, ..
        assembly ("memory-safe") {
            for {
                let k := last
            } gt(k, 1) {
                k := sub(k, 2)
            } {
                sum := sub(one, div(shr(126, mul(z, sum)), mul(k, sub(k, 1))))
            }
        }
    }
}
