// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Merkle lists of docs/program.md: SHA-256, padded with zero subtrees, positions proven by index.
/// @dev Hand-written, because the usual libraries hash sorted pairs: that proves membership, not position.
/// "Under a node" always means: `index` counts the nodes of the descendant's height from the left end of the ancestor's subtree.
library PositionalMerkle {
    error EmptyList();
    error PastWidth(uint256 index, uint256 width);
    error IndexBitsLeft(uint256 index, uint256 levels);
    error SiblingCount(uint256 given, uint256 needed);
    error IndicesNotIncreasing(uint256 previous, uint256 next);
    error LeafCount(uint256 leaves, uint256 indices);
    error HashFailed();

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
        for (uint256 h = 0; h < height; ++h) node = parent(node, node);
    }

    /// @notice H(left || right).
    function parent(bytes32 left, bytes32 right) internal view returns (bytes32 node) {
        bool ok;
        assembly ("memory-safe") {
            mstore(0x00, left)
            mstore(0x20, right)
            ok := staticcall(gas(), 2, 0x00, 0x40, 0x00, 0x20)
            node := mload(0x00)
        }
        // SAFETY: a precompile that ran out of gas must not leave an input standing as its hash.
        require(ok, HashFailed());
    }

    /// @notice The node `siblings.length` levels above `node`, which is number `index` under it.
    /// @param siblings The lowest first.
    function rootFromPath(bytes32 node, uint256 index, bytes32[] calldata siblings) internal view returns (bytes32) {
        uint256 levels = siblings.length;
        // SAFETY: a position has exactly one index; without this, index + 2^levels would open the same node elsewhere.
        require(levels < 256 && index >> levels == 0, IndexBitsLeft(index, levels));
        for (uint256 level = 0; level < levels; ++level) {
            bytes32 sibling = siblings[level];
            node = index & 1 == 0 ? parent(node, sibling) : parent(sibling, node);
            index >>= 1;
        }
        return node;
    }

    /// @notice Whether `node` is number `index` of the nodes that are exactly `levels` below `ancestor`.
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

    /// @notice Whether `leaf` is number `index` of the list of `width` leaves under `root`.
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

    /// @notice The root of a subtree of `levels` levels whose first leaves are given (at least one, at most 2^levels).
    /// @dev Overwrites `leaves`. For a reveal: the children of a node, without those past the width.
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

    /// @notice The root that opens several leaves of one list (docs/program.md, "multiproof").
    /// @dev Overwrites `leaves`.
    /// @param width Leaves in the list.
    /// @param indices Strictly increasing, below the width, at least one.
    /// @param siblings All of them are used, in order: level by level, left to right.
    function multiproofRoot(
        uint256 width,
        uint256[] calldata indices,
        bytes32[] memory leaves,
        bytes32[] calldata siblings
    ) internal view returns (bytes32) {
        uint256 count = indices.length;
        require(count != 0, EmptyList());
        require(leaves.length == count, LeafCount(leaves.length, count));
        uint256[] memory positions = new uint256[](count);
        positions[0] = indices[0];
        for (uint256 k = 1; k < count; ++k) {
            // SAFETY: equal or unordered indices would let one leaf stand for two.
            require(indices[k] > indices[k - 1], IndicesNotIncreasing(indices[k - 1], indices[k]));
            positions[k] = indices[k];
        }
        require(positions[count - 1] < width, PastWidth(positions[count - 1], width));
        uint256 used = 0;
        for (uint256 level = depth(width); level != 0; --level) {
            (count, used) = _foldLevel(positions, leaves, count, siblings, used);
        }
        // INVARIANT: below the width no index bits are left, so the last node standing is number 0 of height `depth`.
        require(used == siblings.length, SiblingCount(siblings.length, used));
        return leaves[0];
    }

    /// @dev Replaces the `count` known nodes of one level by those of the next one.
    function _foldLevel(
        uint256[] memory positions,
        bytes32[] memory nodes,
        uint256 count,
        bytes32[] calldata siblings,
        uint256 used
    ) private view returns (uint256 parents, uint256) {
        unchecked {
            for (uint256 k = 0; k < count; ++k) {
                uint256 position = positions[k];
                bytes32 node = nodes[k];
                if (k + 1 < count && positions[k + 1] == position ^ 1) {
                    ++k;
                    // Positions increase, so the known sibling is the right one.
                    node = parent(node, nodes[k]);
                } else {
                    require(used < siblings.length, SiblingCount(siblings.length, used + 1));
                    bytes32 sibling = siblings[used++];
                    node = position & 1 == 0 ? parent(node, sibling) : parent(sibling, node);
                }
                positions[parents] = position >> 1;
                nodes[parents++] = node;
            }
            return (parents, used);
        }
    }
}
