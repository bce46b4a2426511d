// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Element types: ONNX's TensorProto.DataType codes, and one additional type. Mirrors src/numerics/dtype.ts.
library DType {
    uint256 internal constant FLOAT32 = 1;
    uint256 internal constant UINT8 = 2;
    uint256 internal constant INT8 = 3;
    uint256 internal constant UINT16 = 4;
    uint256 internal constant INT16 = 5;
    uint256 internal constant INT32 = 6;
    uint256 internal constant INT64 = 7;
    uint256 internal constant BOOL = 9;
    uint256 internal constant FLOAT16 = 10;
    uint256 internal constant FLOAT64 = 11;
    uint256 internal constant UINT32 = 12;
    uint256 internal constant UINT64 = 13;
    uint256 internal constant BFLOAT16 = 16;
    /// @dev A 256-bit word from a partial exact sum. No operation accepts this type.
    uint256 internal constant LIMB = 0xa0;

    /// @dev Bit d is set for a type with code d.
    uint256 private constant KNOWN = 0x13efe | (1 << LIMB);
    uint256 private constant SIGNED = 0x00e8;
    uint256 private constant UNSIGNED = 0x3014;
    uint256 private constant FLOATS = 0x10c02;
    /// @dev Nibble d: log2 of an element's bytes, except for a limb.
    uint256 private constant LOG2_BYTES = 0x10032310032110020;

    /// @notice Returns whether Refute executes type `dtype`.
    function isKnown(uint256 dtype) internal pure returns (bool) {
        return (KNOWN >> dtype) & 1 == 1;
    }

    function isSigned(uint256 dtype) internal pure returns (bool) {
        return (SIGNED >> dtype) & 1 == 1;
    }

    function isInteger(uint256 dtype) internal pure returns (bool) {
        return ((SIGNED | UNSIGNED) >> dtype) & 1 == 1;
    }

    function isFloat(uint256 dtype) internal pure returns (bool) {
        return (FLOATS >> dtype) & 1 == 1;
    }

    /// @notice Returns log2 of the bytes per element for a known type.
    function log2Bytes(uint256 dtype) internal pure returns (uint256) {
        return dtype == LIMB ? 5 : (LOG2_BYTES >> (4 * dtype)) & 0xf;
    }
}
