// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Element types: codes of ONNX's TensorProto.DataType, and one of its own. Mirrors src/numerics/dtype.ts.
library DType {
    uint256 internal constant FLOAT32 = 1;
    uint256 internal constant UINT8 = 2;
    uint256 internal constant INT8 = 3;
    uint256 internal constant UINT16 = 4;
    uint256 internal constant INT16 = 5;
    uint256 internal constant INT32 = 6;
    uint256 internal constant INT64 = 7;
    uint256 internal constant BOOL = 9;
    uint256 internal constant UINT32 = 12;
    uint256 internal constant UINT64 = 13;
    /// @dev One 256-bit word of an exact sum under way. No operation takes it.
    uint256 internal constant LIMB = 0xa0;

    /// @dev Bit d is set for a type with code d.
    uint256 private constant KNOWN = 0x32fe | (1 << LIMB);
    uint256 private constant SIGNED = 0x00e8;
    uint256 private constant UNSIGNED = 0x3014;
    /// @dev Nibble d: log2 of the bytes of one element, but for a limb.
    uint256 private constant LOG2_BYTES = 0x32000032110020;

    /// @notice Whether `dtype` is a type that Refute executes.
    function isKnown(uint256 dtype) internal pure returns (bool) {
        return (KNOWN >> dtype) & 1 == 1;
    }

    function isSigned(uint256 dtype) internal pure returns (bool) {
        return (SIGNED >> dtype) & 1 == 1;
    }

    function isInteger(uint256 dtype) internal pure returns (bool) {
        return ((SIGNED | UNSIGNED) >> dtype) & 1 == 1;
    }

    /// @notice log2 of the bytes of one element of a known type.
    function log2Bytes(uint256 dtype) internal pure returns (uint256) {
        return dtype == LIMB ? 5 : (LOG2_BYTES >> (4 * dtype)) & 0xf;
    }

    /// @notice The word that a tensor's element reads as: its low bits extended; one zero, one NaN; a bool is 0 or 1.
    function canonical(uint256 raw, uint256 dtype) internal pure returns (uint256 word) {
        if (dtype == FLOAT32) {
            word = raw & 0xffffffff;
            if (word == 0x80000000) return 0;
            if (word & 0x7fffffff > 0x7f800000) return 0x7fc00000;
            return word;
        }
        uint256 bytesLess1 = (1 << log2Bytes(dtype)) - 1;
        if (isSigned(dtype)) {
            assembly ("memory-safe") {
                word := signextend(bytesLess1, raw)
            }
            return word;
        }
        word = raw & (type(uint256).max >> (248 - 8 * bytesLess1));
        if (dtype == BOOL && word != 0) return 1;
    }
}
