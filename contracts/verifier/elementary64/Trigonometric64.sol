// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "../Float32.sol";
import {Wide} from "./Wide.sol";

/// @title Sine, cosine and tangent on float64. Mirrors src/numerics/elementary64/trigonometric.ts.
/// @dev Each function takes a float64 word x below 2^64 and is correctly rounded.
library Trigonometric64 {
    /// @dev 2/pi with 1536 fraction bits, cut down; the first words have the highest bits.
    uint256 private constant TWO_OVER_PI_0 = 0xa2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561;
    uint256 private constant TWO_OVER_PI_1 = 0xb7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484;
    uint256 private constant TWO_OVER_PI_2 = 0xe99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f;
    uint256 private constant TWO_OVER_PI_3 = 0xef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b;
    uint256 private constant TWO_OVER_PI_4 = 0x3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d;
    uint256 private constant TWO_OVER_PI_5 = 0xa9e391615ee61b086599855f14a068408dffd8804d73273106061556ca73a8c9;

    /// @dev The last terms of the two series are z^26/53! and z^27/54!.
    uint256 private constant LAST_OF_SIN = 53;
    uint256 private constant LAST_OF_COS = 54;

    /// @dev `quadrant` quarter turns (modulo 4) plus theta (negated if `negative`), 0 < theta <= pi/4:
    /// theta = mantissa * 2^(-252 - down), mantissa in 2^251 .. 2^253.
    struct Angle {
        uint256 quadrant;
        bool negative;
        uint256 mantissa;
        uint256 down;
    }

    /// @dev x * 2^exponent as an angle, for a float64 of at least 2^-27 (Payne and Hanek): theta to 2^-249 relative.
    /// In turns of 512 bits, two words: two bits for the quarter, 510 for its fraction.
    function _reduceAngle(uint256 x, int256 exponent) private pure returns (Angle memory angle) {
        unchecked {
            (uint256 high, uint256 low) = _turns(x, uint256(1026 - exponent)); // 55 .. 1105
            uint256 quadrant = high >> 254;
            high = (high << 2) >> 2;
            if (high >> 253 != 0) {
                angle.negative = true;
                ++quadrant;
                // 2^510 less the fraction.
                high = (1 << 254) - high - (low == 0 ? 0 : 1);
                low = 0 - low;
            }
            angle.quadrant = quadrant & 3;
            // No float64 comes closer than 2^-62 to a multiple of pi/2: the high word holds the highest bit.
            uint256 zeros = Float32.leadingZeros(high);
            uint256 fraction = ((high << zeros) | (low >> (256 - zeros))) >> 4;
            angle.mantissa = Wide.times(fraction, Wide.PI_OVER_2);
            angle.down = zeros - 2;
        }
    }

    /// @dev Returns x times the 512 bits of 2/pi that remain after shifting the table down by `shift`, modulo 2^512.
    function _turns(uint256 x, uint256 shift) private pure returns (uint256 high, uint256 low) {
        unchecked {
            uint256 last = 5 - (shift >> 8);
            shift &= 0xff;
            uint256 middle = _twoOverPi(last - 1);
            high = (middle >> shift) | ((last < 2 ? 0 : _twoOverPi(last - 2)) << (256 - shift));
            uint256 window = (_twoOverPi(last) >> shift) | (middle << (256 - shift));
            low = x * window;
            high *= x;
            assembly ("memory-safe") {
                // The carry: the high word of x * window.
                let rest := mulmod(x, window, not(0))
                high := add(high, sub(sub(rest, low), lt(rest, low)))
            }
        }
    }

    function _twoOverPi(uint256 k) private pure returns (uint256) {
        if (k == 0) return TWO_OVER_PI_0;
        if (k == 1) return TWO_OVER_PI_1;
        if (k == 2) return TWO_OVER_PI_2;
        if (k == 3) return TWO_OVER_PI_3;
        return k == 4 ? TWO_OVER_PI_4 : TWO_OVER_PI_5;
    }

    /// @dev theta^2 in Q252, at most 0.617.
    function _square(Angle memory angle) private pure returns (uint256) {
        unchecked {
            return Wide.times(angle.mantissa, angle.mantissa) >> (2 * angle.down);
        }
    }

    /// @dev sin theta, without the sign; relative error 2^-248.
    function _sinTheta(Angle memory angle) private pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            return (
                Wide.times(angle.mantissa, _series(_square(angle), LAST_OF_SIN)),
                -Wide.FRACTION - int256(angle.down)
            );
        }
    }

    /// @dev cos theta in Q252; relative error 2^-248.
    function _cosTheta(Angle memory angle) private pure returns (uint256) {
        return _series(_square(angle), LAST_OF_COS);
    }

    /// @dev sin(x * 2^exponent + quarters * pi/2) rounded, for a float64 of at least 2^-27, negated if `negative`.
    function _sinShifted(bool negative, uint256 x, int256 exponent, uint256 quarters) private pure returns (uint256) {
        unchecked {
            Angle memory angle = _reduceAngle(x, exponent);
            uint256 quadrant = angle.quadrant + quarters;
            if (quadrant & 2 != 0) negative = !negative;
            if (quadrant & 1 == 1) return Wide.round(negative, _cosTheta(angle), -Wide.FRACTION);
            (x, exponent) = _sinTheta(angle);
            return Wide.round(negative != angle.negative, x, exponent);
        }
    }

    /// @dev 1 - z/(m(m + 1)) + z^2/(m(m + 1)(m + 2)(m + 3)) - ..., up to the divisor `last`!, with m = 1 for an even
    /// `last` (cos) and 2 for an odd one (sin theta/theta).
    function _series(uint256 z, uint256 last) private pure returns (uint256 sum) {
        unchecked {
            sum = Wide.ONE;
            for (uint256 k = last; k > 1; k -= 2) sum = Wide.ONE - Wide.times(z, sum) / (k * (k - 1));
        }
    }

    /// @dev The sine.
    function sin(uint256 x) internal pure returns (uint256) {
        uint256 magnitude = x & Wide.MAGNITUDE;
        if (magnitude >= Wide.INFINITY) return Wide.NAN;
        if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
        (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
        return _sinShifted(negative, mantissa, exponent, 0);
    }

    /// @dev The cosine.
    function cos(uint256 x) internal pure returns (uint256) {
        uint256 magnitude = x & Wide.MAGNITUDE;
        if (magnitude >= Wide.INFINITY) return Wide.NAN;
        if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return Wide.WORD_ONE;
        (, uint256 mantissa, int256 exponent) = Wide.decode(x);
        return _sinShifted(false, mantissa, exponent, 1);
    }

    /// @dev The tangent.
    function tan(uint256 x) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = x & Wide.MAGNITUDE;
            if (magnitude >= Wide.INFINITY) return Wide.NAN;
            if (magnitude < Wide.BITS_OF_2_TO_MINUS_27) return magnitude == 0 ? 0 : x;
            (bool negative, uint256 mantissa, int256 exponent) = Wide.decode(x);
            Angle memory angle = _reduceAngle(mantissa, exponent);
            (mantissa, exponent) = _sinTheta(angle);
            uint256 cosine = _cosTheta(angle);
            bool below = negative != angle.negative;
            if (angle.quadrant & 1 == 0) return Wide.round(below, Wide.over(mantissa, cosine), exponent);
            return Wide.round(!below, Wide.over(cosine, mantissa), -2 * Wide.FRACTION - exponent);
        }
    }
}
