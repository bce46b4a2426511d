// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Float32} from "../Float32.sol";

/// @title Rounding of an enclosure. Mirrors src/numerics/elementary/enclosure.ts.
library Enclosure {
    /// @dev Rounds an approximation `mantissa * 2^exponent` (negated if `negative`) with the relative half-width 2^-100; where the enclosure holds
    /// a rounding boundary, the value is that boundary and rounds to the even neighbour.
    function roundEnclosure(bool negative, uint256 mantissa, int256 exponent) internal pure returns (uint256) {
        unchecked {
            uint256 halfWidth = mantissa >> 100;
            uint256 low = Float32.roundToFloat32(negative, mantissa - halfWidth, exponent, false);
            uint256 high = Float32.roundToFloat32(negative, mantissa + halfWidth, exponent, false);
            if (low == high) return low;
            return low & 1 == 0 ? low : high;
        }
    }
}
