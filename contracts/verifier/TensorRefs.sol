// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BodyReader} from "./BodyReader.sol";
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

/// @title Decodes and checks what a step reads (docs/program.md, "Step body").
library TensorRefs {
    error UnknownKind(uint256 kind);

    uint256 internal constant KIND_INPUT = 0;
    uint256 internal constant KIND_CONSTANT = 1;
    uint256 internal constant KIND_STEP = 2;

    uint256 private constant MAX_INPUTS = 16;

    /// @dev A step's reference to a tensor in a body: kind 1 byte, element type 1, elements 8; then a constant's root,
    /// 32 bytes, or an index, 4. Each shift moves a field to the lowest bits of the word that begins at the reference.
    uint256 private constant KIND = 248;
    uint256 private constant ELEMENT_TYPE = 240;
    uint256 private constant ELEMENTS = 176;
    uint256 private constant INDEX = 144;
    /// @dev Where a constant's root begins, bytes from the kind.
    uint256 private constant ROOT = 10;
    uint256 private constant CONSTANT_BYTES = 42;
    uint256 private constant INDEXED_BYTES = 14;

    /// @dev Bytes of a `TensorRef` in memory.
    uint256 private constant REF_BYTES = 0xa0;

    /// @notice The inputs of a step, in order. Checks that part of the body only.
    function decode(bytes calldata body) internal pure returns (TensorRef[] memory list) {
        uint256 start = BodyReader.start(body);
        uint256 position;
        (list, position) = read(start);
        require(position - start <= body.length, BodyReader.BodyLength(body.length, position - start));
    }

    /// @notice Reads the list of a body's inputs, and returns the position after the list.
    function read(uint256 position) internal pure returns (TensorRef[] memory list, uint256) {
        unchecked {
            uint256 count;
            (count, position) = BodyReader.count(position, "inputs", MAX_INPUTS);
            uint256 array = BodyReader.newStructs(count, REF_BYTES);
            assembly ("memory-safe") {
                // Only the type changes.
                list := array
            }
            for (uint256 i = 0; i < count; ++i) {
                TensorRef memory ref = list[i];
                uint256 head = BodyReader.word(position);
                uint256 kind = head >> KIND;
                uint256 dtype = (head >> ELEMENT_TYPE) & 0xff;
                uint256 elements = (head >> ELEMENTS) & type(uint64).max;
                require(kind <= KIND_STEP, UnknownKind(kind));
                require(DType.isKnown(dtype), BodyReader.UnknownType(dtype));
                require(elements != 0 && elements <= type(uint32).max, BodyReader.ElementCount(elements));
                // SAFETY: the two masks and the checks above bound the values; the cast keeps the word's low 32 bits as
                // the index.
                ref.kind = uint8(kind);
                ref.dtype = uint8(dtype);
                ref.count = uint64(elements);
                if (kind == KIND_CONSTANT) {
                    (ref.index, ref.root) = (0, bytes32(BodyReader.word(position + ROOT)));
                    position += CONSTANT_BYTES;
                } else {
                    (ref.index, ref.root) = (uint32(head >> INDEX), 0);
                    position += INDEXED_BYTES;
                }
            }
            return (list, position);
        }
    }
}
