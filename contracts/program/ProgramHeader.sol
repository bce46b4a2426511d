// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SEMANTICS} from "../types/Semantics.sol";
import {DType} from "../verifier/DType.sol";

/// @notice Where an item of a run takes an input from. Shared: a tensor of the job, the same for all items. Each: a
/// tensor of the job for each item. Carried: a checkpoint of the item before; for the first item a tensor of the job.
/// Index: the item's number.
enum InputSource {
    Shared,
    Each,
    Carried,
    Index
}

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
    error UnknownInputSource(uint256 input, uint256 source);
    error WrongCarriedCheckpoint(uint256 input, uint256 checkpoint);
    error IndexNotInt64(uint256 input);
    error UnknownOutputScope(uint256 output, uint256 scope);

    /// @dev Where each field of a header begins, bytes; its size follows from the next one.
    uint256 private constant VERSION = 0;
    uint256 private constant MAX_STEP_GAS = 2;
    uint256 private constant MAX_STEP_BYTES = 6;
    uint256 private constant WORK = 10;
    uint256 private constant STEPS = 18;
    uint256 private constant CHECKPOINTS = 22;
    uint256 private constant INPUTS = 26;
    uint256 private constant OUTPUTS = 28;
    /// @dev Bytes of these fields. The inputs follow, then the outputs.
    uint256 private constant FIXED_BYTES = 30;
    /// @dev An input: element type 1 byte, elements 8, source 1, source checkpoint for carrying 4.
    uint256 private constant INPUT_ELEMENTS = 1;
    uint256 private constant INPUT_SOURCE = 9;
    uint256 private constant INPUT_CARRIED = 10;
    uint256 private constant INPUT_BYTES = 14;
    /// @dev An output: checkpoint 4 bytes, element type 1, elements 8, scope 1.
    uint256 private constant OUTPUT_TYPE = 4;
    uint256 private constant OUTPUT_ELEMENTS = 5;
    uint256 private constant OUTPUT_SCOPE = 13;
    uint256 private constant OUTPUT_BYTES = 14;
    /// @dev Scope of an output that every item has, not only the last item.
    uint256 private constant SCOPE_EACH = 1;

    /// @notice Refuses a header with another version, with a wrong length, or for a program without steps, checkpoints
    /// or outputs.
    function check(bytes calldata header) internal pure {
        require(header.length >= FIXED_BYTES, HeaderLength(header.length, FIXED_BYTES));
        uint256 version = _field(header, VERSION, 2);
        require(version == SEMANTICS, UnknownSemantics(version));
        uint256 expected = FIXED_BYTES + INPUT_BYTES * inputCount(header) + OUTPUT_BYTES * outputCount(header);
        require(header.length == expected, HeaderLength(header.length, expected));
        require(stepCount(header) != 0 && checkpointCount(header) != 0 && outputCount(header) != 0, EmptyProgram());
    }

    /// @notice Returns the publisher's gas estimate for the program's largest step proof.
    function maxStepGas(bytes calldata header) internal pure returns (uint32) {
        return uint32(_field(header, MAX_STEP_GAS, 4));
    }

    /// @notice Returns the publisher's bound, in bytes, on the largest transaction with a step proof of the program.
    function maxStepBytes(bytes calldata header) internal pure returns (uint32) {
        return uint32(_field(header, MAX_STEP_BYTES, 4));
    }

    /// @notice How long the slowest execution may take, in units of which `rate` pass a second.
    function work(bytes calldata header) internal pure returns (uint64) {
        return uint64(_field(header, WORK, 8));
    }

    /// @notice Steps of the program.
    function stepCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, STEPS, 4);
    }

    /// @notice Checkpoints of the program: the leaves of a trace.
    function checkpointCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, CHECKPOINTS, 4);
    }

    /// @notice Inputs of the program.
    function inputCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, INPUTS, 2);
    }

    /// @notice Outputs of the program.
    function outputCount(bytes calldata header) internal pure returns (uint256) {
        return _field(header, OUTPUTS, 2);
    }

    /// @notice Bytes of input `index`: those of one item.
    function inputBytes(bytes calldata header, uint256 index) internal pure returns (uint256) {
        uint256 offset = _inputOffset(header, index);
        return tensorBytes(_field(header, offset, 1), _field(header, offset + INPUT_ELEMENTS, 8));
    }

    /// @notice Bytes of an element of input `index`.
    function inputElementBytes(bytes calldata header, uint256 index) internal pure returns (uint256) {
        return 1 << DType.log2Bytes(_field(header, _inputOffset(header, index), 1));
    }

    /// @notice Bytes of an element of output `index`.
    function outputElementBytes(bytes calldata header, uint256 index) internal pure returns (uint256) {
        return 1 << DType.log2Bytes(_field(header, _outputOffset(header, index) + OUTPUT_TYPE, 1));
    }

    /// @notice Returns the source of the items' input `index`, and the checkpoint from which a carried input is taken.
    function inputSource(
        bytes calldata header,
        uint256 index
    ) internal pure returns (InputSource source, uint256 carried) {
        uint256 offset = _inputOffset(header, index);
        uint256 code = _field(header, offset + INPUT_SOURCE, 1);
        require(code <= uint256(InputSource.Index), UnknownInputSource(index, code));
        source = InputSource(code);
        carried = _field(header, offset + INPUT_CARRIED, 4);
        // INVARIANT: an unread field contains zero, and a program therefore has one header.
        bool known = source == InputSource.Carried ? carried < checkpointCount(header) : carried == 0;
        require(known, WrongCarriedCheckpoint(index, carried));
        if (source == InputSource.Index) {
            bool isNumber = _field(header, offset, 1) == DType.INT64 && _field(header, offset + INPUT_ELEMENTS, 8) == 1;
            require(isNumber, IndexNotInt64(index));
        }
    }

    /// @notice Whether items take tensors from the item before.
    function carries(bytes calldata header) internal pure returns (bool) {
        uint256 end = FIXED_BYTES + INPUT_BYTES * inputCount(header);
        // SAFETY: a byte an input, because an opening at an output is paid by the header's length (GasSchedule.seam).
        for (uint256 offset = FIXED_BYTES + INPUT_SOURCE; offset < end;) {
            if (_field(header, offset, 1) == uint256(InputSource.Carried)) return true;
            unchecked {
                offset += INPUT_BYTES;
            }
        }
        return false;
    }

    /// @notice Returns output `index`: its checkpoint, its bytes, and whether every item has the output, not only the
    /// last item.
    function output(
        bytes calldata header,
        uint256 index
    ) internal pure returns (uint256 checkpoint, uint256 bytes_, bool each) {
        uint256 offset = _outputOffset(header, index);
        checkpoint = _field(header, offset, 4);
        require(checkpoint < checkpointCount(header), OutputWithoutCheckpoint(index, checkpoint));
        uint256 scope = _field(header, offset + OUTPUT_SCOPE, 1);
        require(scope <= SCOPE_EACH, UnknownOutputScope(index, scope));
        each = scope == SCOPE_EACH;
        bytes_ = tensorBytes(_field(header, offset + OUTPUT_TYPE, 1), _field(header, offset + OUTPUT_ELEMENTS, 8));
    }

    /// @notice Bytes of a tensor. A step has at most 2^32 - 1 elements, so no size overflows.
    function tensorBytes(uint256 dtype, uint256 count) internal pure returns (uint256) {
        require(DType.isKnown(dtype), UnknownElementType(dtype));
        require(count != 0 && count <= type(uint32).max, WrongElementCount(count));
        return count << DType.log2Bytes(dtype);
    }

    /// @dev Where the fields of input `index` begin.
    function _inputOffset(bytes calldata header, uint256 index) private pure returns (uint256) {
        uint256 count = inputCount(header);
        require(index < count, InputOutOfRange(index, count));
        return FIXED_BYTES + INPUT_BYTES * index;
    }

    /// @dev Where the fields of output `index` begin.
    function _outputOffset(bytes calldata header, uint256 index) private pure returns (uint256) {
        uint256 count = outputCount(header);
        require(index < count, OutputOutOfRange(index, count));
        return FIXED_BYTES + INPUT_BYTES * inputCount(header) + OUTPUT_BYTES * index;
    }

    /// @dev `size` bytes from `offset`, big-endian; `offset + size` is within the header by `check`.
    function _field(bytes calldata header, uint256 offset, uint256 size) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            // The word that begins at the field, without the bytes behind the field.
            value := shr(sub(256, mul(8, size)), calldataload(add(header.offset, offset)))
        }
    }
}
