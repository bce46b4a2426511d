// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float32} from "./Float32.sol";
import {Format} from "./Format.sol";

/// @title The primitives of any float type on words: the exact real result, rounded once. Mirrors
/// src/numerics/float.ts.
/// @dev float32 has a specialised version in Float32.sol. Every function is total, reads -0 as +0 and any NaN as the
/// type's canonical NaN, and returns neither -0 nor another NaN. Comparisons return 0 or 1.
library Float {
    /// @dev Beyond this distance between a sum's terms, the smaller term is below a quarter of an ulp, even in the
    /// binade beneath.
    int256 private constant FAR = 192;
    /// @dev A number with more fraction bits lies below 1/4: reducing the bits to this limit leaves its neighbouring
    /// integers unchanged.
    uint256 private constant MAX_PLACES = 128;

    /// @notice Rounds `(-1)^negative * mantissa * 2^exponent` to a float type: half to even, once, subnormals kept,
    /// overflow to infinity, +0 for every result that is zero.
    /// @param exponent Between -2^254 and 2^254.
    /// @param sticky The magnitude is larger than that by something nonzero and below `2^exponent`. Then `mantissa`
    /// must reach the bit below the result's last one.
    function roundTo(
        uint256 dtype,
        bool negative,
        uint256 mantissa,
        int256 exponent,
        bool sticky
    ) internal pure returns (uint256 word) {
        unchecked {
            if (mantissa == 0) return 0;
            uint256 leading = Float32.leadingZeros(mantissa);
            // 2^top <= magnitude < 2^(top+1)
            int256 top = exponent + 255 - int256(leading);
            int256 highest = Format.highestExponent(dtype);
            uint256 fraction = Format.fractionBits(dtype);
            mantissa <<= leading;
            if (top > highest) {
                word = Format.infinity(dtype);
            } else if (top > -highest) {
                // A normal number's leading bit adds 1 to the exponent field, and so does a carry out of the fraction,
                // up to infinity.
                word = Float32.roundBits(mantissa, 255 - fraction, sticky) + (uint256(top + highest - 1) << fraction);
            } else {
                int256 lowest = 1 - highest - int256(fraction);
                if (top < lowest - 1) return 0;
                word = Float32.roundBits(mantissa, uint256(255 - (top - lowest)), sticky);
                if (word == 0) return 0;
            }
            if (negative) word |= Format.sign(dtype);
        }
    }

    /// @notice Returns the word with -0 read as +0 and every NaN as the type's canonical NaN; higher bits are dropped.
    function canonical(uint256 a, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            uint256 magnitude = _magnitude(a, dtype);
            if (magnitude > Format.infinity(dtype)) return Format.nan(dtype);
            return magnitude == 0 ? 0 : a & (2 * Format.sign(dtype) - 1);
        }
    }

    function isNaN(uint256 a, uint256 dtype) internal pure returns (bool) {
        return _magnitude(a, dtype) > Format.infinity(dtype);
    }

    function isInfinite(uint256 a, uint256 dtype) internal pure returns (bool) {
        return _magnitude(a, dtype) == Format.infinity(dtype);
    }

    /// @notice A finite word as `(-1)^negative * mantissa * 2^exponent`. Meaningless for NaN and infinities.
    function decode(uint256 a, uint256 dtype) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 fraction = Format.fractionBits(dtype);
            uint256 hidden = 1 << fraction;
            uint256 field = _magnitude(a, dtype) >> fraction;
            negative = _isNegative(a, dtype);
            mantissa = a & (hidden - 1);
            exponent = Format.lowestExponent(dtype);
            if (field != 0) {
                mantissa |= hidden;
                exponent += int256(field) - 1;
            }
        }
    }

    /// @notice Converts a word between float types, rounded once; exact if the target type contains all values of the
    /// source type.
    function convert(uint256 a, uint256 from, uint256 to) internal pure returns (uint256) {
        if (from == to) return canonical(a, from);
        if (isNaN(a, from)) return Format.nan(to);
        (bool negative, uint256 mantissa, int256 exponent) = decode(a, from);
        if (isInfinite(a, from)) return _infinity(negative, to);
        return roundTo(to, negative, mantissa, exponent, false);
    }

    function add(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            if (isNaN(a, dtype) || isNaN(b, dtype)) return Format.nan(dtype);
            if (isInfinite(a, dtype)) {
                bool opposed = isInfinite(b, dtype) && _isNegative(a ^ b, dtype);
                return opposed ? Format.nan(dtype) : canonical(a, dtype);
            }
            if (isInfinite(b, dtype)) return canonical(b, dtype);
            (int256 x, int256 exponent) = _decodeSigned(a, dtype);
            (int256 y, int256 yExponent) = _decodeSigned(b, dtype);
            int256 gap = exponent - yExponent;
            if (gap >= 0) {
                if (gap > FAR) return canonical(a, dtype);
                x <<= uint256(gap);
                exponent = yExponent;
            } else {
                if (gap < -FAR) return canonical(b, dtype);
                y <<= uint256(-gap);
            }
            return _roundSigned(x + y, exponent, dtype);
        }
    }

    function sub(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        return add(a, b ^ Format.sign(dtype), dtype);
    }

    function mul(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            bool negative = _isNegative(a ^ b, dtype);
            if (isNaN(a, dtype) || isNaN(b, dtype)) return Format.nan(dtype);
            if (isInfinite(a, dtype) || isInfinite(b, dtype)) {
                bool zero = _magnitude(a, dtype) == 0 || _magnitude(b, dtype) == 0;
                return zero ? Format.nan(dtype) : _infinity(negative, dtype);
            }
            (, uint256 x, int256 xExponent) = decode(a, dtype);
            (, uint256 y, int256 yExponent) = decode(b, dtype);
            return roundTo(dtype, negative, x * y, xExponent + yExponent, false);
        }
    }

    /// @notice x/0 is infinity with the sign of x (the zero has none), 0/0 and Inf/Inf are NaN.
    function div(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            bool negative = _isNegative(a ^ b, dtype);
            if (isNaN(a, dtype) || isNaN(b, dtype)) return Format.nan(dtype);
            if (isInfinite(b, dtype)) return isInfinite(a, dtype) ? Format.nan(dtype) : 0;
            if (_magnitude(b, dtype) == 0) {
                return _magnitude(a, dtype) == 0 ? Format.nan(dtype) : _infinity(_isNegative(a, dtype), dtype);
            }
            if (isInfinite(a, dtype)) return _infinity(negative, dtype);
            (, uint256 x, int256 xExponent) = decode(a, dtype);
            (, uint256 y, int256 yExponent) = decode(b, dtype);
            x <<= 108; // so that the quotient has more than 54 bits
            return roundTo(dtype, negative, x / y, xExponent - 108 - yExponent, x % y != 0);
        }
    }

    /// @notice C's fmod: a - n*b with n = trunc(a/b) over the reals; exact, with the sign of a. fmod(x, 0) and
    /// fmod(Inf, y) are NaN.
    function fmod(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            if (isNaN(a, dtype) || isNaN(b, dtype) || isInfinite(a, dtype) || _magnitude(b, dtype) == 0) {
                return Format.nan(dtype);
            }
            if (isInfinite(b, dtype)) return canonical(a, dtype);
            (bool negative, uint256 x, int256 exponent) = decode(a, dtype);
            (, uint256 y, int256 yExponent) = decode(b, dtype);
            int256 gap = exponent - yExponent;
            if (gap >= 0) {
                x = mulmod(x, _powerOfTwo(uint256(gap), y), y);
                exponent = yExponent;
            } else {
                if (gap < -64) return canonical(a, dtype); // x < 2^53 <= y * 2^64
                x %= y << uint256(-gap);
            }
            return roundTo(dtype, negative, x, exponent, false);
        }
    }

    /// @dev 2^power modulo `modulus`, for power < 2^12: by squaring, the highest bit first.
    function _powerOfTwo(uint256 power, uint256 modulus) private pure returns (uint256 result) {
        unchecked {
            result = 1 % modulus;
            for (uint256 bit = 1 << 11; bit != 0; bit >>= 1) {
                result = mulmod(result, result, modulus);
                if (power & bit != 0) result = addmod(result, result, modulus);
            }
        }
    }

    /// @notice Square root; NaN below zero.
    function sqrt(uint256 a, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            if (isNaN(a, dtype)) return Format.nan(dtype);
            if (_magnitude(a, dtype) == 0) return 0;
            if (_isNegative(a, dtype)) return Format.nan(dtype);
            if (isInfinite(a, dtype)) return Format.infinity(dtype);
            (, uint256 mantissa, int256 exponent) = decode(a, dtype);
            // An even exponent, and a root of more than 54 bits.
            uint256 shift = exponent & 1 == 0 ? 108 : 109;
            uint256 square = mantissa << shift;
            uint256 root = Float32.integerSqrt(square);
            return roundTo(dtype, false, root, (exponent - int256(shift)) / 2, root * root != square);
        }
    }

    function neg(uint256 a, uint256 dtype) internal pure returns (uint256) {
        return canonical(a ^ Format.sign(dtype), dtype);
    }

    function abs(uint256 a, uint256 dtype) internal pure returns (uint256) {
        return canonical(_magnitude(a, dtype), dtype);
    }

    /// @notice -1, 0 or 1; NaN for NaN.
    function sign(uint256 a, uint256 dtype) internal pure returns (uint256) {
        if (isNaN(a, dtype)) return Format.nan(dtype);
        if (_magnitude(a, dtype) == 0) return 0;
        return roundTo(dtype, _isNegative(a, dtype), 1, 0, false);
    }

    /// @notice IEEE 754-2019 minimum: NaN if either is.
    function min(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        if (isNaN(a, dtype) || isNaN(b, dtype)) return Format.nan(dtype);
        return canonical(order(a, dtype) < order(b, dtype) ? a : b, dtype);
    }

    /// @notice IEEE 754-2019 maximum: NaN if either is.
    function max(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        if (isNaN(a, dtype) || isNaN(b, dtype)) return Format.nan(dtype);
        return canonical(order(a, dtype) < order(b, dtype) ? b : a, dtype);
    }

    /// @notice Largest integer not above a.
    function floor(uint256 a, uint256 dtype) internal pure returns (uint256) {
        (bool integral, int256 mantissa, uint256 places) = _fraction(a, dtype);
        if (integral) return canonical(a, dtype);
        return _roundSigned(mantissa >> places, 0, dtype);
    }

    /// @notice Smallest integer not below a.
    function ceil(uint256 a, uint256 dtype) internal pure returns (uint256) {
        (bool integral, int256 mantissa, uint256 places) = _fraction(a, dtype);
        if (integral) return canonical(a, dtype);
        unchecked {
            return _roundSigned(-(-mantissa >> places), 0, dtype);
        }
    }

    /// @notice Nearest integer, half to even.
    function round(uint256 a, uint256 dtype) internal pure returns (uint256) {
        (bool integral, int256 mantissa, uint256 places) = _fraction(a, dtype);
        if (integral) return canonical(a, dtype);
        unchecked {
            int256 below = mantissa >> places;
            uint256 twiceRest = uint256(mantissa - (below << places)) << 1;
            uint256 one = 1 << places;
            if (twiceRest > one || (twiceRest == one && below & 1 == 1)) ++below;
            return _roundSigned(below, 0, dtype);
        }
    }

    function eq(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        return !isNaN(a, dtype) && !isNaN(b, dtype) && order(a, dtype) == order(b, dtype) ? 1 : 0;
    }

    function lt(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        return !isNaN(a, dtype) && !isNaN(b, dtype) && order(a, dtype) < order(b, dtype) ? 1 : 0;
    }

    function le(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        return !isNaN(a, dtype) && !isNaN(b, dtype) && order(a, dtype) <= order(b, dtype) ? 1 : 0;
    }

    /// @notice Returns an integer ordered like the values of non-NaN words; both zeros give 0.
    function order(uint256 a, uint256 dtype) internal pure returns (int256) {
        unchecked {
            int256 magnitude = int256(_magnitude(a, dtype));
            return _isNegative(a, dtype) ? -magnitude : magnitude;
        }
    }

    function _magnitude(uint256 a, uint256 dtype) private pure returns (uint256) {
        unchecked {
            return a & (Format.sign(dtype) - 1);
        }
    }

    function _isNegative(uint256 a, uint256 dtype) private pure returns (bool) {
        return a & Format.sign(dtype) != 0;
    }

    function _infinity(bool negative, uint256 dtype) private pure returns (uint256) {
        return negative ? Format.sign(dtype) | Format.infinity(dtype) : Format.infinity(dtype);
    }

    function _decodeSigned(uint256 a, uint256 dtype) private pure returns (int256, int256) {
        unchecked {
            (bool negative, uint256 mantissa, int256 exponent) = decode(a, dtype);
            return (negative ? -int256(mantissa) : int256(mantissa), exponent);
        }
    }

    /// @dev Whether the exponent of a word leaves no fraction (infinities and NaN too); else the word as
    /// `mantissa * 2^-places`, where more than MAX_PLACES are taken for as many.
    function _fraction(uint256 a, uint256 dtype) private pure returns (bool integral, int256 mantissa, uint256 places) {
        unchecked {
            int256 exponent;
            (mantissa, exponent) = _decodeSigned(a, dtype);
            if (exponent >= 0) return (true, mantissa, 0);
            places = uint256(-exponent);
            if (places > MAX_PLACES) places = MAX_PLACES;
        }
    }

    /// @dev Rounds the signed value `mantissa * 2^exponent`.
    function _roundSigned(int256 mantissa, int256 exponent, uint256 dtype) private pure returns (uint256) {
        unchecked {
            bool negative = mantissa < 0;
            return roundTo(dtype, negative, uint256(negative ? -mantissa : mantissa), exponent, false);
        }
    }
}
