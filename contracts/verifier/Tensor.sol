// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {ChunkOpening} from "../interfaces/IStepVerifier.sol";
// SHA256 is used in assembly, which solhint does not see.
// solhint-disable-next-line no-unused-import
import {PositionalMerkle, SHA256} from "../merkle/PositionalMerkle.sol";

/// @notice The opened chunks of one input, and the segment with the last element found.
/// @param log2Bytes log2 of an element's bytes.
/// @param data Memory address of the first opened chunk; the others follow. `Tensors.arrange` makes elements readable
/// there.
/// @param source Calldata address of a byte less its memory address.
/// @param indices Calldata address of the chunks' numbers.
/// @param chunks The number of open chunks.
/// @param segmentStart First byte (of the tensor) in the current segment.
/// @param segmentBytes The segment's length.
/// @param segmentData The segment's memory address.
struct Tensor {
    uint256 log2Bytes;
    uint256 data;
    uint256 source;
    uint256 indices;
    uint256 chunks;
    uint256 segmentStart;
    uint256 segmentBytes;
    uint256 segmentData;
}

/// @title Opens a tensor's chunks under its root, and finds elements in the chunks.
library Tensors {
    error ChunkBytes(uint256 input, uint256 given, uint256 needed);
    error WrongRoot(uint256 input, bytes32 given, bytes32 recomputed);
    error ChunkNotOpened(uint256 input, uint256 chunk);
    error HashFailed();

    uint256 internal constant CHUNK_BYTES = 512;

    /// @notice Authenticates the chunks of one input and lays the chunks out in memory.
    /// @param input The input's number, for errors.
    /// @param count Elements in the tensor.
    function open(
        uint256 input,
        bytes32 root,
        uint256 dtype,
        uint256 count,
        ChunkOpening calldata opening
    ) internal view returns (Tensor memory tensor) {
        uint256[] calldata indices = opening.indices;
        uint256 chunks = indices.length;
        uint256 size = CHUNK_BYTES * chunks;
        require(opening.chunks.length == size, ChunkBytes(input, opening.chunks.length, size));
        tensor.log2Bytes = DType.log2Bytes(dtype);
        if (chunks == 0) {
            require(opening.siblings.length == 0, PositionalMerkle.SiblingCount(opening.siblings.length, 0));
            return tensor;
        }
        tensor.chunks = chunks;
        (tensor.data, tensor.source, tensor.indices) = _copy(opening.chunks, indices);
        uint256 width = ((count << tensor.log2Bytes) + CHUNK_BYTES - 1) / CHUNK_BYTES;
        bytes32 recomputed = PositionalMerkle.multiproofRoot(
            width,
            indices,
            _leaves(tensor.data, chunks),
            opening.siblings
        );
        // SAFETY: no code uses chunk data before this check has proven them.
        require(recomputed == root, WrongRoot(input, root, recomputed));
        // Indices increase: if their count matches the range from first to last, the chunks form one segment and
        // nothing is ever searched.
        unchecked {
            uint256 first = _index(tensor.indices, 0);
            tensor.segmentData = tensor.data;
            if (_index(tensor.indices, chunks - 1) - first == chunks - 1) {
                tensor.segmentStart = first * CHUNK_BYTES;
                tensor.segmentBytes = size;
            }
        }
    }

    /// @notice Makes the segment around a tensor byte the current segment.
    function seek(Tensor memory tensor, uint256 input, uint256 offset) internal pure {
        unchecked {
            if (offset - tensor.segmentStart < tensor.segmentBytes) return;
            uint256 chunk = offset / CHUNK_BYTES;
            uint256 indices = tensor.indices;
            uint256 chunks = tensor.chunks;
            // Usually the chunk after the last found chunk; else the first opened chunk whose number is not below
            // `chunk`.
            uint256 low = (tensor.segmentData - tensor.data) / CHUNK_BYTES + 1;
            if (low >= chunks || _index(indices, low) != chunk) {
                low = 0;
                uint256 high = chunks;
                while (low < high) {
                    uint256 middle = (low + high) / 2;
                    if (_index(indices, middle) < chunk) low = middle + 1;
                    else high = middle;
                }
                // SAFETY: without this check, a proof without the chunk would allow any content.
                require(low < chunks && _index(indices, low) == chunk, ChunkNotOpened(input, chunk));
            }
            tensor.segmentStart = chunk * CHUNK_BYTES;
            tensor.segmentBytes = CHUNK_BYTES;
            tensor.segmentData = tensor.data + low * CHUNK_BYTES;
        }
    }

    /// @notice Lays out elements for reading, most significant byte first: the element at memory address `pointer` in
    /// the current segment and the `terms - 1` elements after, each `step` bytes on (two's complement). Elements
    /// sharing a word are laid out together.
    /// @dev Copies from calldata, and therefore repeating changes nothing. One-byte elements already lie in reading
    /// order.
    function arrange(Tensor memory tensor, uint256 pointer, uint256 step, uint256 terms) internal pure {
        uint256 log2Bytes = tensor.log2Bytes;
        if (log2Bytes == 0) return;
        uint256 source = tensor.source;
        uint256 end;
        assembly ("memory-safe") {
            // The last term's element.
            end := add(pointer, mul(step, sub(terms, 1)))
            // For a step back: the same elements from the other end, with `pointer` as the lowest.
            if sgt(0, step) {
                let first := end
                end := pointer
                pointer := first
                step := sub(0, step)
            }
            // Neighbours share words: process every word from the first element's to the last element's. Otherwise
            // process one word per term. Chunks lie at multiples of 32, like everything that Solidity allocates.
            if lt(step, 33) {
                step := 32
                pointer := and(pointer, not(0x1f))
            }
        }
        if (log2Bytes == 2) _reverse4(pointer, end, step, source);
        else _reverse(pointer, end, step, source, log2Bytes);
    }

    /// @dev Reverses the bytes of every element of 4 bytes in the words around `pointer`, `pointer + step` and on to
    /// `end`.
    function _reverse4(uint256 pointer, uint256 end, uint256 step, uint256 source) private pure {
        assembly ("memory-safe") {
            // The lower half of each group (2 and 4 bytes): halves change places, first the single bytes.
            let m1 := 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff
            let m2 := 0x0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff
            for {} iszero(gt(pointer, end)) {
                pointer := add(pointer, step)
            } {
                // The word around the pointer, in calldata's byte order.
                let word := and(pointer, not(0x1f))
                let w := calldataload(add(word, source))
                w := or(shl(8, and(w, m1)), and(shr(8, w), m1))
                mstore(word, or(shl(16, and(w, m2)), and(shr(16, w), m2)))
            }
        }
    }

    /// @dev The same for elements of 2, 8 or 32 bytes: there are none of 16.
    function _reverse(uint256 pointer, uint256 end, uint256 step, uint256 source, uint256 log2Bytes) private pure {
        assembly ("memory-safe") {
            // The lower half of each group (2, 4, 8 and 16 bytes): halves change places, from the smallest groups up.
            let m1 := 0x00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff
            let m2 := 0x0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff0000ffff
            let m4 := 0x00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff
            let m8 := 0x0000000000000000ffffffffffffffff0000000000000000ffffffffffffffff
            for {} iszero(gt(pointer, end)) {
                pointer := add(pointer, step)
            } {
                // The word around the pointer, in calldata's byte order.
                let word := and(pointer, not(0x1f))
                let w := calldataload(add(word, source))
                w := or(shl(8, and(w, m1)), and(shr(8, w), m1))
                // Elements of 8 or 32 bytes.
                if gt(log2Bytes, 2) {
                    w := or(shl(16, and(w, m2)), and(shr(16, w), m2))
                    w := or(shl(32, and(w, m4)), and(shr(32, w), m4))
                    // Elements of 32 bytes.
                    if gt(log2Bytes, 3) {
                        w := or(shl(64, and(w, m8)), and(shr(64, w), m8))
                        w := or(shl(128, w), shr(128, w))
                    }
                }
                mstore(word, w)
            }
        }
    }

    function _index(uint256 indices, uint256 k) private pure returns (uint256 index) {
        assembly ("memory-safe") {
            index := calldataload(add(indices, shl(5, k)))
        }
    }

    function _copy(
        bytes calldata chunks,
        uint256[] calldata indices
    ) private pure returns (uint256 data, uint256 source, uint256 position) {
        assembly ("memory-safe") {
            data := mload(0x40)
            // The offset from an address in the copy to the address in calldata.
            source := sub(chunks.offset, data)
            // 32 bytes more than the data: an element at the end is read with a whole word.
            mstore(0x40, add(add(data, chunks.length), 0x20))
            calldatacopy(data, chunks.offset, chunks.length)
            position := indices.offset
        }
    }

    function _leaves(uint256 data, uint256 chunks) private view returns (bytes32[] memory leaves) {
        leaves = new bytes32[](chunks);
        bool ok = true;
        assembly ("memory-safe") {
            let leaf := add(leaves, 0x20)
            for {
                let end := add(data, mul(CHUNK_BYTES, chunks))
            } lt(data, end) {
                data := add(data, CHUNK_BYTES)
            } {
                ok := and(ok, staticcall(gas(), SHA256, data, CHUNK_BYTES, leaf, 0x20))
                leaf := add(leaf, 0x20)
            }
        }
        require(ok, HashFailed());
    }
}
