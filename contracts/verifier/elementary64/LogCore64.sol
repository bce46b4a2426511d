// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Wide} from "./Wide.sol";

/// @title The logarithm in scaled integers of 256 bits. Mirrors src/numerics/elementary64/logCore.ts.
library LogCore64 {
    /// @dev sqrt(1/2) with 256 fraction bits, cut down.
    uint256 private constant SQRT_HALF_Q256 = 0xb504f333f9de6484597d89b3754abe9f1d6f60ba893ba84ced17ac8583339915;
    /// @dev The series ends with the term z^49/99.
    uint256 private constant LAST_DIVISOR = 99;

    /// @dev 2 atanh(p/q) = log((q + p)/(q - p)) for integers 0 < p/q < 0.1716, q < 2^255; relative error 2^-249.
    function logQuotient(uint256 p, uint256 q) internal pure returns (uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 down = Wide.bitLength(q) - Wide.bitLength(p);
            uint256 s = Wide.over(p << down, q);
            uint256 z = Wide.times(s, s) >> (2 * down);
            uint256 sum = Wide.ONE / LAST_DIVISOR;
            for (uint256 k = LAST_DIVISOR; k > 1;) {
                k -= 2;
                sum = Wide.ONE / k + Wide.times(z, sum);
            }
            return (Wide.times(s, sum), 1 - Wide.FRACTION - int256(down));
        }
    }

    /// @dev |log v| and its sign, for v = x * 2^xExponent with 0 < x < 2^254 and |log2 v| < 2^11; relative error
    /// 2^-242, also next to 1.
    function logPositive(
        uint256 x,
        int256 xExponent
    ) internal pure returns (bool negative, uint256 mantissa, int256 exponent) {
        unchecked {
            uint256 unitBits = Wide.bitLength(x);
            if (x << (256 - unitBits) <= SQRT_HALF_Q256) --unitBits;
            uint256 unit = 1 << unitBits;
            int256 k = xExponent + int256(unitBits);
            if (x == unit) return _scaled(k * Wide.LN2);
            negative = x < unit;
            (mantissa, exponent) = logQuotient(negative ? unit - x : x - unit, x + unit);
            if (k == 0) return (negative, mantissa, exponent);
            int256 magnitude = int256(Wide.shifted(mantissa, exponent + Wide.ARGUMENT_FRACTION));
            return _scaled(k * Wide.LN2 + (negative ? -magnitude : magnitude));
        }
    }

    /// @dev A signed number in Q244.
    function _scaled(int256 value) private pure returns (bool, uint256, int256) {
        unchecked {
            return (value < 0, uint256(value < 0 ? -value : value), -Wide.ARGUMENT_FRACTION);
        }
    }
}
