// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "./DType.sol";

/// @notice What a step reads.
/// @param kind 0: job input `index`; 1: constant with tensor root `root`; 2: step `index`.
/// @param dtype The element type (an ONNX code).
/// @param count Elements, 1 .. 2^32 - 1.
/// @param index Number of the job input or step; 0 for a constant.
/// @param root Tensor root of a constant; 0 otherwise.
struct TensorRef {
    uint8 kind;
    uint8 dtype;
    uint64 count;
    uint32 index;
    bytes32 root;
}

/// @title Decodes a step body under the limits of docs/program.md.
library StepDecoder {
    error BodyLength(uint256 given, uint256 needed);
    error TooMany(bytes32 what, uint256 count, uint256 limit);
    error UnknownKind(uint256 kind);
    error UnknownType(uint256 dtype);
    error ElementCount(uint256 count);

    uint8 internal constant KIND_INPUT = 0;
    uint8 internal constant KIND_CONSTANT = 1;
    uint8 internal constant KIND_STEP = 2;

    uint256 internal constant MAX_INPUTS = 16;

    /// @notice The inputs of a step, in order. Checks that part of the body only.
    function refs(bytes calldata body) internal pure returns (TensorRef[] memory list) {
        (list, ) = decodeRefs(body);
    }

    /// @notice The inputs of a step, and the position in the body at which they end.
    function decodeRefs(bytes calldata body) internal pure returns (TensorRef[] memory list, uint256 position) {
        uint256 count = _u8(body, 0);
        require(count <= MAX_INPUTS, TooMany("inputs", count, MAX_INPUTS));
        position = 1;
        list = new TensorRef[](count);
        for (uint256 i = 0; i < count; ++i) {
            TensorRef memory ref = list[i];
            uint256 head = _word(body, position);
            uint256 kind = head >> 248;
            uint256 dtype = (head >> 240) & 0xff;
            uint256 elements = (head >> 176) & type(uint64).max;
            require(kind <= KIND_STEP, UnknownKind(kind));
            require(DType.isKnown(dtype), UnknownType(dtype));
            require(elements != 0 && elements <= type(uint32).max, ElementCount(elements));
            ref.kind = uint8(kind);
            ref.dtype = uint8(dtype);
            ref.count = uint64(elements);
            if (kind == KIND_CONSTANT) {
                ref.root = bytes32(_word(body, position + 10));
                position += 42;
            } else {
                ref.index = uint32(head >> 144);
                position += 14;
            }
        }
        require(position <= body.length, BodyLength(body.length, position));
    }

    /// @dev The 32 bytes from `position`; what lies past the body is refused by the caller's check of the final position.
    function _word(bytes calldata body, uint256 position) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(body.offset, position))
        }
    }

    function _u8(bytes calldata body, uint256 position) private pure returns (uint256) {
        return _word(body, position) >> 248;
    }
}
