// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Reads words of calldata without a check: callers know that the bytes are there.
library Words {
    /// @notice The 32 bytes at a place. What lies beyond the data may be anything.
    function load(bytes calldata data, uint256 pos) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(data.offset, pos))
        }
    }

    /// @notice `count` bytes at a place, 1 to 32, as a number.
    function number(bytes calldata data, uint256 pos, uint256 count) internal pure returns (uint256) {
        unchecked {
            return load(data, pos) >> (256 - 8 * count);
        }
    }
}
