// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "../DType.sol";
import {Float} from "../Float.sol";
import {Float32} from "../Float32.sol";

/// @title Rounding of an enclosure. Mirrors src/numerics/elementary/enclosure.ts.
library Enclosure {
    /// @dev Rounds an approximation `mantissa * 2^exponent` (negated if `negative`) with the relative half-width
    /// 2^-100. If the enclosure holds a rounding boundary, the value equals the boundary and rounds to the even
    /// neighbour.
    /// @param dtype The type rounded to: float32, or a subset (float16 or bfloat16). The result is a float32 word.
    function roundEnclosure(
        uint256 dtype,
        bool negative,
        uint256 mantissa,
        int256 exponent
    ) internal pure returns (uint256) {
        unchecked {
            uint256 halfWidth = mantissa >> 100;
            uint256 low;
            uint256 high;
            if (dtype == DType.FLOAT32) {
                low = Float32.roundToFloat32(negative, mantissa - halfWidth, exponent, false);
                high = Float32.roundToFloat32(negative, mantissa + halfWidth, exponent, false);
            } else {
                low = Float.roundTo(dtype, negative, mantissa - halfWidth, exponent, false);
                high = Float.roundTo(dtype, negative, mantissa + halfWidth, exponent, false);
            }
            if (low != high && low & 1 != 0) low = high;
            return dtype == DType.FLOAT32 ? low : Float.convert(low, dtype, DType.FLOAT32);
        }
    }
}
