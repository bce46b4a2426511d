// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";

/// @title Binary floating-point formats: sign, exponent field, fraction. Mirrors src/numerics/format.ts.
library Format {
    /// @dev Byte 31 - dtype: the fraction bits of a float type; 0 for other types.
    uint256 private constant FRACTION_BITS = (23 << 8) | (10 << 80) | (52 << 88) | (7 << 128);

    /// @notice Returns the number of fraction bits; a normal number's significand has one more. 0 for a type other than
    /// floats.
    function fractionBits(uint256 dtype) internal pure returns (uint256) {
        return (FRACTION_BITS >> (8 * dtype)) & 0xff;
    }

    /// @notice Returns the exponent of the leading bit of the largest finite number.
    function highestExponent(uint256 dtype) internal pure returns (int256) {
        return
            dtype == DType.FLOAT64
                ? int256(1023)
                : dtype == DType.FLOAT16
                    ? int256(15)
                    : int256(127);
    }

    /// @notice Returns the exponent of the smallest subnormal: every finite value has the corresponding power of two
    /// for a divisor.
    function lowestExponent(uint256 dtype) internal pure returns (int256) {
        unchecked {
            return 1 - highestExponent(dtype) - int256(fractionBits(dtype));
        }
    }

    /// @notice The sign bit alone.
    function sign(uint256 dtype) internal pure returns (uint256) {
        return
            dtype == DType.FLOAT64
                ? 1 << 63
                : dtype == DType.FLOAT32
                    ? 1 << 31
                    : 1 << 15;
    }

    /// @notice +Infinity.
    function infinity(uint256 dtype) internal pure returns (uint256) {
        uint256 bit = sign(dtype);
        unchecked {
            return bit - (1 << fractionBits(dtype));
        }
    }

    /// @notice The one NaN: quiet, positive, without a payload.
    function nan(uint256 dtype) internal pure returns (uint256) {
        unchecked {
            return infinity(dtype) | (1 << (fractionBits(dtype) - 1));
        }
    }
}
