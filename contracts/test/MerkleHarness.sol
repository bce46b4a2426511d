// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {TensorRef, TensorRefs} from "../verifier/TensorRefs.sol";

/// @title Opens the libraries' functions to tests.
contract MerkleHarness {
    function depth(uint256 width) external pure returns (uint256) {
        return PositionalMerkle.depth(width);
    }

    function zeroHash(uint256 height) external view returns (bytes32) {
        return PositionalMerkle.zeroHash(height);
    }

    function rootFromPath(bytes32 node, uint256 index, bytes32[] calldata siblings) external view returns (bytes32) {
        return PositionalMerkle.rootFromPath(node, index, siblings);
    }

    function leafUnder(
        bytes32 root,
        uint256 width,
        bytes32 leaf,
        uint256 index,
        bytes32[] calldata siblings
    ) external view returns (bool) {
        return PositionalMerkle.leafUnder(root, width, leaf, index, siblings);
    }

    function nodeUnder(
        bytes32 ancestor,
        uint256 levels,
        bytes32 node,
        uint256 index,
        bytes32[] calldata siblings
    ) external view returns (bool) {
        return PositionalMerkle.nodeUnder(ancestor, levels, node, index, siblings);
    }

    function leavesRoot(bytes32[] memory leaves) external view returns (bytes32) {
        return PositionalMerkle.leavesRoot(leaves);
    }

    function subtreeRoot(bytes32[] memory leaves, uint256 levels) external view returns (bytes32) {
        return PositionalMerkle.subtreeRoot(leaves, levels);
    }

    function multiproofRoot(
        uint256 width,
        uint256[] calldata indices,
        bytes32[] memory leaves,
        bytes32[] calldata siblings
    ) external view returns (bytes32) {
        return PositionalMerkle.multiproofRoot(width, indices, leaves, siblings);
    }

    function refs(bytes calldata body) external pure returns (TensorRef[] memory) {
        return TensorRefs.decode(body);
    }
}
