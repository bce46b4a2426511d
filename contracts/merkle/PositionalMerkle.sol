// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev Address of the SHA-256 precompile, for `staticcall` in assembly.
uint256 constant SHA256 = 2;

/// @title Merkle lists of docs/program.md: SHA-256, padded with zero subtrees, positions proven by index.
/// @dev Hand-written, because the usual libraries hash sorted pairs: that proves membership, not position.
/// "Under a node" always means: `index` counts the nodes of the descendant's height from the left end of the ancestor's
/// subtree.
library PositionalMerkle {
    error EmptyList();
    error PastWidth(uint256 index, uint256 width);
    error IndexBitsLeft(uint256 index, uint256 levels);
    error SiblingCount(uint256 given, uint256 needed);
    error IndicesNotIncreasing(uint256 previous, uint256 next);
    error LeafCount(uint256 leaves, uint256 indices);
    error HashFailed();

    /// @dev Z_4, Z_8, Z_12, Z_16, from which the others are at most three hashes away in lists of up to 2^24 leaves.
    bytes32 private constant ZERO_4 = 0x536d98837f2dd165a55d5eeae91485954472d56f246df256bf3cae19352a123c;
    bytes32 private constant ZERO_8 = 0x26846476fd5fc54a5d43385167c95144f2643f533cc85bb9d16b782f8d7db193;
    bytes32 private constant ZERO_12 = 0xb7d05f875f140027ef5118a2247bbb84ce8f2f0f1123623085daf7960c329f5f;
    bytes32 private constant ZERO_16 = 0x8fe6b1689256c0d385f42f5bbe2027a22c1996e110ba97c171d3e5948de92beb;

    /// @notice Levels between the root and the leaves of a list of `width` leaves: ceil(log2(width)).
    function depth(uint256 width) internal pure returns (uint256 levels) {
        require(width != 0, EmptyList());
        assembly ("memory-safe") {
            // 256 - clz(width - 1): the bits of the last index.
            levels := sub(256, clz(sub(width, 1)))
        }
    }

    /// @notice Z_height: the root of an empty subtree.
    function zeroHash(uint256 height) internal view returns (bytes32 node) {
        uint256 known = height < 16 ? height & 12 : 16;
        if (known == 4) node = ZERO_4;
        else if (known == 8) node = ZERO_8;
        else if (known == 12) node = ZERO_12;
        else if (known == 16) node = ZERO_16;
        for (; known < height; ++known) node = parent(node, node);
    }

    /// @notice H(left || right).
    function parent(bytes32 left, bytes32 right) internal view returns (bytes32 node) {
        bool ok;
        assembly ("memory-safe") {
            // Both nodes to scratch space, the first 64 bytes of memory; the hash replaces the left one.
            mstore(0x00, left)
            mstore(0x20, right)
            ok := staticcall(gas(), SHA256, 0x00, 0x40, 0x00, 0x20)
            node := mload(0x00)
        }
        // SAFETY: a precompile without enough gas must not leave an input standing as the hash.
        require(ok, HashFailed());
    }

    /// @notice Returns the ancestor `siblings.length` levels above `node`, where `node` has number `index` below the
    /// ancestor.
    /// @param siblings The lowest first.
    function rootFromPath(bytes32 node, uint256 index, bytes32[] calldata siblings) internal view returns (bytes32) {
        uint256 levels = siblings.length;
        // SAFETY: a position has exactly one index; without this, index + 2^levels would open the same node elsewhere.
        require(levels < 256 && index >> levels == 0, IndexBitsLeft(index, levels));
        uint256 first;
        assembly ("memory-safe") {
            first := siblings.offset
        }
        return _climb(node, index, first, levels);
    }

    /// @dev Goes `levels` up from a node, past the siblings at calldata address `sibling` and on.
    function _climb(
        bytes32 node,
        uint256 index,
        uint256 sibling,
        uint256 levels
    ) private view returns (bytes32 ancestor) {
        bool ok = true;
        assembly ("memory-safe") {
            // A left child is hashed first. Each hash goes straight to the correct side for the next hash.
            let side := shl(5, and(index, 1))
            mstore(side, node)
            for {
                let end := add(sibling, shl(5, levels))
            } lt(sibling, end) {
                sibling := add(sibling, 0x20)
            } {
                // The sibling on the other side of the 64 bytes in scratch space.
                mstore(xor(side, 0x20), calldataload(sibling))
                index := shr(1, index)
                side := shl(5, and(index, 1))
                ok := and(ok, staticcall(gas(), SHA256, 0x00, 0x40, side, 0x20))
            }
            ancestor := mload(side)
        }
        require(ok, HashFailed());
    }

    /// @notice Returns whether `node` is number `index` among the nodes exactly `levels` below `ancestor`.
    function nodeUnder(
        bytes32 ancestor,
        uint256 levels,
        bytes32 node,
        uint256 index,
        bytes32[] calldata siblings
    ) internal view returns (bool) {
        require(siblings.length == levels, SiblingCount(siblings.length, levels));
        return rootFromPath(node, index, siblings) == ancestor;
    }

    /// @notice Returns whether `leaf` is number `index` in the list of `width` leaves under `root`.
    function leafUnder(
        bytes32 root,
        uint256 width,
        bytes32 leaf,
        uint256 index,
        bytes32[] calldata siblings
    ) internal view returns (bool) {
        require(index < width, PastWidth(index, width));
        return nodeUnder(root, depth(width), leaf, index, siblings);
    }

    /// @notice The root over `leaves`, padded to the next power of two.
    /// @dev Overwrites `leaves`.
    function leavesRoot(bytes32[] memory leaves) internal view returns (bytes32) {
        return subtreeRoot(leaves, depth(leaves.length));
    }

    /// @notice Returns the root of a subtree with `levels` levels from its first leaves (at least one, at most
    /// 2^levels).
    /// @dev Overwrites `leaves`. For a reveal: the children of a node, without the children past the width.
    function subtreeRoot(bytes32[] memory leaves, uint256 levels) internal view returns (bytes32) {
        uint256 count = leaves.length;
        require(count != 0, EmptyList());
        require(levels < 256 && (count - 1) >> levels == 0, PastWidth(count - 1, levels));
        bytes32 zero = 0;
        for (uint256 level = 0; level < levels; ++level) {
            uint256 parents = (count + 1) / 2;
            for (uint256 i = 0; i < parents; ++i) {
                bytes32 right = 2 * i + 1 < count ? leaves[2 * i + 1] : zero;
                leaves[i] = parent(leaves[2 * i], right);
            }
            zero = parent(zero, zero);
            count = parents;
        }
        return leaves[0];
    }

    /// @notice Returns the root from an opening with several leaves per list (docs/program.md, "multiproof").
    /// @dev Overwrites `leaves`.
    /// @param width Leaves in the list.
    /// @param indices Strictly increasing, below the width, at least one.
    /// @param siblings The function uses all siblings, in order: level by level, left to right.
    function multiproofRoot(
        uint256 width,
        uint256[] calldata indices,
        bytes32[] memory leaves,
        bytes32[] calldata siblings
    ) internal view returns (bytes32) {
        uint256 count = indices.length;
        require(count != 0, EmptyList());
        require(leaves.length == count, LeafCount(leaves.length, count));
        uint256 positions = _increasing(indices, width);
        uint256 levels = depth(width);
        uint256 start;
        uint256 nodes;
        assembly ("memory-safe") {
            start := siblings.offset
            // Past the array's length.
            nodes := add(leaves, 0x20)
        }
        uint256 sibling = start;
        unchecked {
            for (; count > 1; --levels) (count, sibling) = _foldLevel(positions, nodes, count, sibling);
            // One node is left: an ordinary path.
            uint256 needed = (sibling - start) / 32 + levels;
            // INVARIANT: below the width no index bits are left, so the last remaining node has number 0 at height
            // `depth`. SAFETY: this check refuses data read behind the siblings' end.
            require(needed == siblings.length, SiblingCount(siblings.length, needed));
        }
        uint256 position;
        assembly ("memory-safe") {
            // The position of the one remaining node.
            position := mload(positions)
        }
        return _climb(leaves[0], position, sibling, levels);
    }

    /// @dev Copies the indices to memory; gives their address.
    function _increasing(uint256[] calldata indices, uint256 width) private pure returns (uint256 positions) {
        uint256 first;
        uint256 size;
        assembly ("memory-safe") {
            first := indices.offset
            size := shl(5, indices.length)
            // The copy takes the next `size` bytes of free memory.
            positions := mload(0x40)
            mstore(0x40, add(positions, size))
            calldatacopy(positions, first, size)
        }
        uint256 previous;
        unchecked {
            for (uint256 offset = 0; offset != size; offset += 32) {
                uint256 next;
                assembly ("memory-safe") {
                    next := calldataload(add(first, offset))
                }
                // SAFETY: equal or unordered indices would let one leaf stand for two.
                require(offset == 0 || next > previous, IndicesNotIncreasing(previous, next));
                previous = next;
            }
        }
        require(previous < width, PastWidth(previous, width));
    }

    /// @dev Replaces the `count` known nodes of one level, at memory address `nodes`, by the known nodes of the next
    /// level; their positions likewise.
    /// @param sibling Calldata address of the next sibling.
    function _foldLevel(
        uint256 positions,
        uint256 nodes,
        uint256 count,
        uint256 sibling
    ) private view returns (uint256 parents, uint256 next) {
        bool ok = true;
        assembly ("memory-safe") {
            next := sibling
            let to := nodes
            let toPosition := positions
            // Two words less than the end: where the last node has no neighbour.
            for {
                let end := add(nodes, shl(5, count))
            } lt(nodes, end) {
                nodes := add(nodes, 0x20)
                positions := add(positions, 0x20)
            } {
                let position := mload(positions)
                let last := eq(add(nodes, 0x20), end)
                // Positions increase, and therefore any known sibling belongs to the node.
                switch and(iszero(last), eq(mload(add(positions, 0x20)), xor(position, 1)))
                // Both children are known: they lie side by side, and both are consumed.
                case 1 {
                    ok := and(ok, staticcall(gas(), SHA256, nodes, 0x40, to, 0x20))
                    nodes := add(nodes, 0x20)
                    positions := add(positions, 0x20)
                }
                // The other child is the next sibling; the two are put together in scratch space.
                default {
                    let side := shl(5, and(position, 1))
                    mstore(side, mload(nodes))
                    mstore(xor(side, 0x20), calldataload(next))
                    next := add(next, 0x20)
                    ok := and(ok, staticcall(gas(), SHA256, 0x00, 0x40, to, 0x20))
                }
                mstore(toPosition, shr(1, position))
                to := add(to, 0x20)
                toPosition := add(toPosition, 0x20)
            }
            // Positions written, 32 bytes each. `positions` has moved on by `count` words.
            parents := shr(5, sub(toPosition, sub(positions, shl(5, count))))
        }
        require(ok, HashFailed());
    }
}
