// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {Words} from "./Words.sol";

/// @title Reading functions shared by the step body decoders.
/// @dev A position is an address in calldata. Reading past the body gives arbitrary bytes or zeros: StepDecoder's last
/// check refuses such bodies by requiring that the encoding ends with the body. A one-byte count bounds every loop
/// before the last check.
library BodyReader {
    error BodyLength(uint256 given, uint256 needed);
    error TooMany(bytes32 what, uint256 count, uint256 limit);
    error UnknownType(uint256 dtype);
    error ElementCount(uint256 count);
    error UnknownDigit(uint256 digit);
    error NotCanonical(int256 value, uint256 dtype);

    /// @dev The float32 word.
    int256 private constant INFINITY = 0x7f800000;

    /// @notice Where a body begins.
    function start(bytes calldata body) internal pure returns (uint256 position) {
        assembly ("memory-safe") {
            position := body.offset
        }
    }

    /// @notice 32 bytes, the first one highest.
    function word(uint256 position) internal pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := calldataload(position)
        }
    }

    /// @notice The byte at a position.
    function byteAt(uint256 position) internal pure returns (uint256) {
        return word(position) >> 248;
    }

    /// @notice Returns a list's one-byte length, and the first item's position.
    /// @param what The list's name, for the error.
    function count(uint256 position, bytes32 what, uint256 limit) internal pure returns (uint256 length, uint256) {
        length = byteAt(position);
        require(length <= limit, TooMany(what, length, limit));
        return (length, position + 1);
    }

    /// @notice Allocates an array of `length` structs with `size` bytes each, and returns its memory address.
    /// @dev SAFETY: the structs are not cleared; the caller sets every field before reading it.
    function newStructs(uint256 length, uint256 size) internal pure returns (uint256 array) {
        assembly ("memory-safe") {
            // In free memory: the length, an address for each struct, the structs.
            array := mload(0x40)
            mstore(array, length)
            let offset := shl(5, length)
            // Free memory begins behind the last struct.
            let item := add(add(add(array, 0x20), offset), mul(length, size))
            mstore(0x40, item)
            // The addresses, from the last one at `offset` bytes down to the first.
            for {} offset {
                offset := sub(offset, 0x20)
            } {
                item := sub(item, size)
                mstore(add(array, offset), item)
            }
        }
    }

    /// @notice Reads a word written as i64, and requires the value's canonical word in `dtype`.
    function canonicalWord(uint256 position, uint256 dtype) internal pure returns (uint256 canonical) {
        int256 value = int64(uint64(word(position) >> 192));
        // Zero is valid in every type, and every positive number in float32.
        if (value == 0 || (dtype == DType.FLOAT32 && value > 0 && value <= INFINITY)) return uint256(value);
        // The 64 bits are a float64's own.
        canonical = dtype == DType.FLOAT64 ? uint64(uint256(value)) : uint256(value);
        require(int256(canonical) >= 0 || DType.isSigned(dtype), NotCanonical(value, dtype));
        require(Words.canonical(canonical, dtype) == canonical, NotCanonical(value, dtype));
    }
}
