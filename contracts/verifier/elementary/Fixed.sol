// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Fixed point with 126 fraction bits (Q126). Mirrors src/numerics/elementary/fixed.ts.
library Fixed {
    int256 internal constant FRACTION = 126;
    /// @dev 1 in Q126.
    uint256 internal constant ONE = 1 << 126;
    /// @dev ln 2 in Q126, to the nearest.
    int256 internal constant LN2 = 0x2c5c85fdf473de6af278ece600fcbdac;
    /// @dev pi/2 in Q126, to the nearest.
    uint256 internal constant PI_OVER_2 = 0x6487ed5110b4611a62633145c06e0e69;

    /// @dev Below 2^-12 a function that differs from x by less than x^3/3 + |x|^5 rounds to x.
    uint256 internal constant BITS_OF_2_TO_MINUS_12 = 0x39800000;

    /// @dev `mantissa * 2^exponent` in Q126, cut down. The caller must keep the result below 2^256.
    function toFixed(uint256 mantissa, int256 exponent) internal pure returns (uint256) {
        unchecked {
            int256 shift = exponent + FRACTION;
            return shift >= 0 ? mantissa << uint256(shift) : mantissa >> uint256(-shift);
        }
    }
}
