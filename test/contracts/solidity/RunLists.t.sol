// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {KnownStep} from "../../../contracts/game/KnownStep.sol";
import {ChunkOpening, IStepVerifier} from "../../../contracts/interfaces/IStepVerifier.sol";
import {SEMANTICS} from "../../../contracts/types/Semantics.sol";

/// @notice Lists of few leaves, in their plainest form.
library Lists {
    function depth(uint256 width) internal pure returns (uint256 levels) {
        while (1 << levels < width) ++levels;
    }

    /// @notice The leaves, and zeros up to the next power of two.
    function padded(bytes32[] memory leaves) internal pure returns (bytes32[] memory all) {
        all = new bytes32[](1 << depth(leaves.length));
        for (uint256 i = 0; i < leaves.length; ++i) all[i] = leaves[i];
    }

    function root(bytes32[] memory leaves) internal pure returns (bytes32) {
        bytes32[] memory nodes = padded(leaves);
        while (nodes.length > 1) nodes = _above(nodes);
        return nodes[0];
    }

    /// @notice From a leaf to the root.
    function path(bytes32[] memory leaves, uint256 index) internal pure returns (bytes32[] memory siblings) {
        bytes32[] memory nodes = padded(leaves);
        siblings = new bytes32[](depth(leaves.length));
        for (uint256 level = 0; level < siblings.length; ++level) {
            siblings[level] = nodes[(index >> level) ^ 1];
            nodes = _above(nodes);
        }
    }

    function join(bytes32[] memory a, bytes32[] memory b) internal pure returns (bytes32[] memory all) {
        all = new bytes32[](a.length + b.length);
        for (uint256 i = 0; i < all.length; ++i) all[i] = i < a.length ? a[i] : b[i - a.length];
    }

    function pair(bytes32 a, bytes32 b) internal pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](2);
        (leaves[0], leaves[1]) = (a, b);
    }

    function _above(bytes32[] memory nodes) private pure returns (bytes32[] memory parents) {
        parents = new bytes32[](nodes.length / 2);
        for (uint256 i = 0; i < parents.length; ++i) {
            parents[i] = sha256(abi.encodePacked(nodes[2 * i], nodes[2 * i + 1]));
        }
    }
}

/// @notice Elements of a step: all are one hash of the roots that the step reads, so that whoever gets another root
/// past a contract gets another element.
library HashedSteps {
    /// @dev Of a tensor: 64-bit words, one of them in a second chunk.
    uint256 internal constant ELEMENTS = 65;
    uint256 internal constant CHUNK_ELEMENTS = 64;

    function valueOf(bytes memory body, bytes32[] memory roots) internal pure returns (uint64) {
        return uint64(uint256(keccak256(abi.encode(body, roots))));
    }

    /// @notice A chunk of a tensor all of whose elements have one value: little-endian.
    function chunkOf(uint64 value, uint256 index) internal pure returns (bytes memory chunk) {
        uint256 word;
        for (uint256 i = 0; i < 8; ++i) word = (word << 8) | uint8(value >> (8 * i));
        bytes8 element = bytes8(uint64(word));
        if (index == 1) return abi.encodePacked(element, new bytes(504));
        bytes memory four = abi.encodePacked(element, element, element, element);
        chunk = abi.encodePacked(four, four, four, four);
        chunk = abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function chunksOf(uint64 value) internal pure returns (bytes32[] memory) {
        return Lists.pair(sha256(chunkOf(value, 0)), sha256(chunkOf(value, 1)));
    }

    function rootOf(uint64 value) internal pure returns (bytes32) {
        return Lists.root(chunksOf(value));
    }

    function bytesOf(uint64 value) internal pure returns (bytes memory data) {
        bytes memory last = chunkOf(value, 1);
        assembly ("memory-safe") {
            mstore(last, 8)
        }
        return abi.encodePacked(chunkOf(value, 0), last);
    }
}

/// @notice The verifier of such steps, but for the step that a game tries it by.
contract HashingVerifier is IStepVerifier {
    function evaluate(
        bytes calldata body,
        uint256,
        bytes32[] calldata roots,
        ChunkOpening[] calldata
    ) external pure returns (uint256) {
        return keccak256(body) == keccak256(KnownStep.BODY) ? KnownStep.RESULT : HashedSteps.valueOf(body, roots);
    }

    function semantics() external pure returns (uint256) {
        return SEMANTICS;
    }
}
