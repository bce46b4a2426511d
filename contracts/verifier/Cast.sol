// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {Float} from "./Float.sol";
import {Integer} from "./Integer.sol";

/// @title Conversion of words between element types. Mirrors src/numerics/cast.ts.
library Cast {
    /// @dev From this exponent on, a nonzero number of any type lies beyond every integer type.
    int256 private constant BEYOND = 128;

    /// @notice Converts a word. Float to float and integer to float: rounded once. Float to integer: NaN is 0, the rest
    /// truncates towards zero and saturates. Anything to bool: nonzero (NaN is true). Integer to integer: modulo
    /// 2^bits.
    function cast(uint256 a, uint256 from, uint256 to) internal pure returns (uint256) {
        unchecked {
            bool toFloat = DType.isFloat(to);
            if (DType.isFloat(from)) return toFloat ? Float.convert(a, from, to) : fromFloat(a, from, to);
            uint256 value = Integer.wrap(a, from);
            if (toFloat) {
                bool negative = int256(value) < 0;
                return Float.roundTo(to, negative, negative ? 0 - value : value, 0, false);
            }
            return Integer.wrap(value, to);
        }
    }

    function fromFloat(uint256 word, uint256 from, uint256 to) private pure returns (uint256) {
        unchecked {
            uint256 a = Float.canonical(word, from);
            if (to == DType.BOOL) return a == 0 ? 0 : 1;
            if (Float.isNaN(a, from)) return 0;

            uint256 bits = 8 << DType.log2Bytes(to);
            bool signed = DType.isSigned(to);
            int256 lowest = signed ? -int256(1 << (bits - 1)) : int256(0);
            int256 highest = int256(1 << (signed ? bits - 1 : bits)) - 1;
            (bool negative, uint256 mantissa, int256 exponent) = Float.decode(a, from);
            // Infinities have exponents beyond the limit too, except 16-bit infinities.
            if (exponent >= BEYOND || Float.isInfinite(a, from)) return uint256(negative ? lowest : highest);
            mantissa = exponent >= 0 ? mantissa << uint256(exponent) : mantissa >> uint256(-exponent);
            int256 value = negative ? -int256(mantissa) : int256(mantissa);
            return
                uint256(
                    value < lowest
                        ? lowest
                        : value > highest
                            ? highest
                            : value
                );
        }
    }
}
