// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Reads the float32 numbers of an output, as the market delivers them.
/// @notice An output tensor is row-major, and each number little-endian: the lowest byte comes first.
library Floats {
    error NoSuchNumber(uint256 index, uint256 numbers);
    error NotFinite(uint32 bits);
    error TooManyDecimals(uint256 given, uint256 limit);

    /// @notice The most decimals: the largest float32, below 2^128, then still fits into an int256.
    uint256 internal constant MAX_DECIMALS = 38;

    uint256 private constant WIDTH = 4;
    /// @dev A float32 is `significand * 2^(exponent - 150)`; a significand has 24 bits, the highest of them implied.
    uint256 private constant FRACTION_BITS = 23;
    uint256 private constant EXPONENTS = 255;
    uint256 private constant SCALE = 150;

    /// @notice A number times `10^decimals`, rounded towards zero, as Solidity divides: the exact product differs by
    /// less than 1. Equal or greater numbers have equal or greater results.
    /// @dev Reverts with `NoSuchNumber`, `NotFinite` (an infinity, a NaN) or `TooManyDecimals`.
    /// @param tensor The output's bytes.
    /// @param index Number of the float32 within the tensor, from 0.
    /// @param decimals At most `MAX_DECIMALS`.
    function fixedAt(bytes calldata tensor, uint256 index, uint256 decimals) internal pure returns (int256) {
        return toFixed(bitsAt(tensor, index), decimals);
    }

    /// @notice The bits of a number, as IEEE 754 has them: the sign is the highest bit.
    /// @dev Reverts with `NoSuchNumber`.
    /// @param tensor The output's bytes.
    /// @param index Number of the float32 within the tensor, from 0.
    /// @return The bits.
    function bitsAt(bytes calldata tensor, uint256 index) internal pure returns (uint32) {
        uint256 numbers = tensor.length / WIDTH;
        require(index < numbers, NoSuchNumber(index, numbers));
        uint256 place = index * WIDTH;
        uint32 bits = 0;
        for (uint256 k = WIDTH; k > 0; --k) bits = (bits << 8) | uint8(tensor[place + k - 1]);
        return bits;
    }

    /// @notice The same as `fixedAt`, of a number's bits.
    /// @dev Reverts with `NotFinite` or `TooManyDecimals`.
    /// @param bits A float32.
    /// @param decimals At most `MAX_DECIMALS`.
    function toFixed(uint32 bits, uint256 decimals) internal pure returns (int256) {
        require(decimals <= MAX_DECIMALS, TooManyDecimals(decimals, MAX_DECIMALS));
        uint256 exponent = (bits >> FRACTION_BITS) & EXPONENTS;
        require(exponent != EXPONENTS, NotFinite(bits));
        uint256 size = bits & ((1 << FRACTION_BITS) - 1);
        // Zero and subnormal numbers have the least exponent, and no implied bit.
        if (exponent == 0) exponent = 1;
        else size |= 1 << FRACTION_BITS;
        size *= 10 ** decimals;
        // SAFETY: below 2^128 * 10^38, which is below 2^255.
        size = exponent < SCALE ? size >> (SCALE - exponent) : size << (exponent - SCALE);
        return bits >> 31 == 0 ? int256(size) : -int256(size);
    }
}
