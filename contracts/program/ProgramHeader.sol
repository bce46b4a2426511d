// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "../verifier/DType.sol";

/// @title Reads a program's header (docs/program.md, "Header"). Every width and position in a dispute comes from here.
/// @dev `check` must have passed before the other functions are used.
library ProgramHeader {
    error HeaderLength(uint256 given, uint256 expected);
    error UnknownSemantics(uint256 version);
    error EmptyProgram();
    error InputOutOfRange(uint256 input, uint256 count);
    error OutputOutOfRange(uint256 output, uint256 count);
    error OutputWithoutCheckpoint(uint256 output, uint256 checkpoint);
    error UnknownElementType(uint256 dtype);
    error WrongElementCount(uint256 count);

    uint256 internal constant SEMANTICS = 1;
    uint256 private constant FIXED_BYTES = 26;
    uint256 private constant INPUT_BYTES = 9;
    uint256 private constant OUTPUT_BYTES = 13;

    /// @notice Refuses a header of another version, of the wrong length, or of a program without steps, checkpoints or outputs.
    function check(bytes calldata header) internal pure {
        require(header.length >= FIXED_BYTES, HeaderLength(header.length, FIXED_BYTES));
        uint256 version = _field(header, 0, 2);
        require(version == SEMANTICS, UnknownSemantics(version));
        uint256 expected = FIXED_BYTES + INPUT_BYTES * inputCount(header) + OUTPUT_BYTES * outputCount(header);
        require(header.length == expected, HeaderLength(header.length, expected));
        require(stepCount(header) != 0 && checkpointCount(header) != 0 && outputCount(header) != 0, EmptyProgram());
    }

    function maxStepGas(bytes calldata header) internal pure returns (uint32) {
        return uint32(_field(header, 2, 4));
    }

    function work(bytes calldata header) internal pure returns (uint64) {
        return uint64(_field(header, 6, 8));
    }

    function stepCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, 14, 4);
    }

    function checkpointCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, 18, 4);
    }

    function inputCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, 22, 2);
    }

    function outputCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, 24, 2);
    }

    /// @notice Bytes of input `index`.
    function inputBytes(bytes calldata header, uint256 index) internal pure returns (uint256) {
        uint256 count = inputCount(header);
        require(index < count, InputOutOfRange(index, count));
        uint256 offset = FIXED_BYTES + INPUT_BYTES * index;
        return tensorBytes(_field(header, offset, 1), _field(header, offset + 1, 8));
    }

    /// @notice The checkpoint that is output `index`, and the output's bytes.
    function output(bytes calldata header, uint256 index) internal pure returns (uint256 checkpoint, uint256 bytes_) {
        uint256 count = outputCount(header);
        require(index < count, OutputOutOfRange(index, count));
        uint256 offset = FIXED_BYTES + INPUT_BYTES * inputCount(header) + OUTPUT_BYTES * index;
        checkpoint = _field(header, offset, 4);
        require(checkpoint < checkpointCount(header), OutputWithoutCheckpoint(index, checkpoint));
        bytes_ = tensorBytes(_field(header, offset + 4, 1), _field(header, offset + 5, 8));
    }

    /// @notice Bytes of a tensor. A step has at most 2^32 - 1 elements, so no size overflows.
    function tensorBytes(uint256 dtype, uint256 count) internal pure returns (uint256) {
        require(DType.isKnown(dtype), UnknownElementType(dtype));
        require(count != 0 && count <= type(uint32).max, WrongElementCount(count));
        return count << DType.log2Bytes(dtype);
    }

    /// @dev `size` bytes from `at`, big-endian; `offset + size` is within the header by `check`.
    function _field(bytes calldata header, uint256 offset, uint256 size) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := shr(sub(256, mul(8, size)), calldataload(add(header.offset, offset)))
        }
    }
}
