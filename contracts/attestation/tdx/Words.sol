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

    /// @notice keccak256 of data.
    function hash(bytes calldata data) internal pure returns (bytes32 digest) {
        assembly ("memory-safe") {
            // Beyond the memory in use.
            let free := mload(0x40)
            calldatacopy(free, data.offset, data.length)
            digest := keccak256(free, data.length)
        }
    }

    /// @notice SHA-256 of the data's first `length` bytes, which must exist.
    function sha(bytes calldata data, uint256 length) internal view returns (bytes32 digest) {
        assembly ("memory-safe") {
            // Beyond the memory in use, and the answer in the scratch space.
            let free := mload(0x40)
            calldatacopy(free, data.offset, length)
            if iszero(staticcall(gas(), 0x02, free, length, 0x00, 0x20)) {
                revert(0x00, 0x00)
            }
            digest := mload(0x00)
        }
    }

    /// @notice Bytes that are there, where they lie.
    function slice(bytes calldata data, uint256 start, uint256 end) internal pure returns (bytes calldata part) {
        assembly ("memory-safe") {
            part.offset := add(data.offset, start)
            part.length := sub(end, start)
        }
    }
}
