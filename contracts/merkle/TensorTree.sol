// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// SHA256 is used in assembly, which solhint does not see.
// solhint-disable-next-line no-unused-import
import {PositionalMerkle, SHA256} from "./PositionalMerkle.sol";

/// @title Tensor trees from bytes, and reveals of a node's children (docs/program.md, "Merkle lists").
library TensorTree {
    uint256 internal constant CHUNK_BYTES = 512;

    /// @dev SHA-256 of a chunk of zeros.
    bytes32 private constant ZERO_CHUNK = 0x076a27c79e5ace2a3d47f9dd2e83e4ff6ea8872b3c2218f66c92b89b55f36560;

    error ChunkHashFailed();

    /// @notice Chunks of a tensor of `length` bytes.
    function chunkCount(uint256 length) internal pure returns (uint256) {
        return (length + CHUNK_BYTES - 1) / CHUNK_BYTES;
    }

    /// @notice The root of the tensor tree over `data`.
    function root(bytes calldata data) internal view returns (bytes32) {
        return PositionalMerkle.leavesRoot(_leaves(data));
    }

    /// @notice Returns the root of the tensor tree over `length` zero bytes.
    function zeroRoot(uint256 length) internal view returns (bytes32 edge) {
        uint256 last = chunkCount(length) - 1;
        // Nodes of each height: over chunks only, over the last chunk, over padding only.
        bytes32 full = ZERO_CHUNK;
        edge = ZERO_CHUNK;
        bytes32 padding = 0;
        for (; last != 0; last >>= 1) {
            edge = last & 1 == 1 ? PositionalMerkle.parent(full, edge) : PositionalMerkle.parent(edge, padding);
            full = PositionalMerkle.parent(full, full);
            padding = PositionalMerkle.parent(padding, padding);
        }
    }

    /// @notice Returns the root of a subtree with `levels` levels whose chunks begin with `data`.
    function subtree(bytes calldata data, uint256 levels) internal view returns (bytes32) {
        return PositionalMerkle.subtreeRoot(_leaves(data), levels);
    }

    /// @notice Returns the node whose descendants `log2(children.length / 32)` levels down are `children`, a power of
    /// two in number.
    function parentOf(bytes calldata children) internal view returns (bytes32 node) {
        bool ok = true;
        assembly ("memory-safe") {
            // Free memory, which is not taken: nothing of it is read afterwards.
            let offset := mload(0x40)
            calldatacopy(offset, children.offset, children.length)
            // n parents of each level, from the children's pairs up to the one node.
            for {
                let n := shr(6, children.length)
            } n {
                n := shr(1, n)
            } {
                for {
                    let i := 0
                } lt(i, n) {
                    i := add(i, 1)
                } {
                    // Parent i replaces child i: its children 2i and 2i+1 have been read by then.
                    ok := and(ok, staticcall(gas(), SHA256, add(offset, shl(6, i)), 0x40, add(offset, shl(5, i)), 0x20))
                }
            }
            node := mload(offset)
        }
        // SAFETY: a hash without enough gas would leave the input in place.
        require(ok, ChunkHashFailed());
    }

    /// @dev Returns the SHA-256 of each 512-byte chunk, with the last chunk zero-padded.
    function _leaves(bytes calldata data) private view returns (bytes32[] memory leaves) {
        leaves = new bytes32[](chunkCount(data.length));
        bool ok = true;
        assembly ("memory-safe") {
            // Free memory, without allocating: each chunk reuses the previous chunk's buffer.
            let buffer := mload(0x40)
            let leaf := add(leaves, 0x20)
            let end := add(data.offset, data.length)
            for {
                let offset := data.offset
            } lt(offset, end) {
                offset := add(offset, CHUNK_BYTES)
                leaf := add(leaf, 0x20)
            } {
                let left := sub(end, offset)
                if lt(left, CHUNK_BYTES) {
                    // Past the calldata there are zeros: this is the padding.
                    calldatacopy(buffer, calldatasize(), CHUNK_BYTES)
                }
                if gt(left, CHUNK_BYTES) {
                    left := CHUNK_BYTES
                }
                // The chunk's own bytes; for the last chunk, written over the zeros.
                calldatacopy(buffer, offset, left)
                ok := and(ok, staticcall(gas(), SHA256, buffer, CHUNK_BYTES, leaf, 0x20))
            }
        }
        require(ok, ChunkHashFailed());
    }
}
