// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "./DType.sol";
import {Float32} from "./Float32.sol";
import {Integer} from "./Integer.sol";

/// @title Conversion of words between element types. Mirrors src/numerics/cast.ts.
library Cast {
    /// @notice Converts a word. Float to integer: NaN is 0, the rest truncates towards zero and saturates. Anything to bool: nonzero (NaN
    /// is true). Integer to float: rounded once. Integer to integer: modulo 2^bits.
    function cast(uint256 a, uint256 from, uint256 to) internal pure returns (uint256) {
        unchecked {
            if (from == DType.FLOAT32) return castFloat(Float32.canonical(a), to);
            uint256 value = Integer.wrap(a, from);
            if (to == DType.FLOAT32) {
                bool negative = int256(value) < 0;
                return Float32.roundToFloat32(negative, negative ? 0 - value : value, 0, false);
            }
            return Integer.wrap(value, to);
        }
    }

    function castFloat(uint256 a, uint256 to) private pure returns (uint256) {
        unchecked {
            if (to == DType.FLOAT32) return a;
            if (to == DType.BOOL) return a == Float32.ZERO ? 0 : 1;
            if (Float32.isNaN(a)) return 0;

            uint256 bits = 8 << DType.log2Bytes(to);
            bool signed = DType.isSigned(to);
            int256 lowest = signed ? -int256(1 << (bits - 1)) : int256(0);
            int256 highest = int256(1 << (signed ? bits - 1 : bits)) - 1;
            if (Float32.isInfinite(a)) return uint256(a == Float32.INFINITY ? highest : lowest);
            (bool negative, uint256 mantissa, int256 exponent) = Float32.decode(a);
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
