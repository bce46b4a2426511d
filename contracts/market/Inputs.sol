// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket, InputPart} from "../interfaces/IJobMarket.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {TensorTree} from "../merkle/TensorTree.sol";

/// @title Input bytes against the roots that a job names: whole, or in aligned parts.
library Inputs {
    using ProgramHeader for bytes;

    /// @dev Levels of a full part: 128 chunks, 64 KiB. With its proofs it stays below the 90,000 bytes that every
    /// network's pool takes; its calldata costs 2.6 M gas at EIP-7623's floor.
    uint256 internal constant PART_LEVELS = 7;
    uint256 internal constant PART_CHUNKS = 1 << PART_LEVELS;
    uint256 internal constant PART_BYTES = PART_CHUNKS * TensorTree.CHUNK_BYTES;

    /// @notice Parts of an input of `length` bytes.
    function partCount(uint256 length) internal pure returns (uint256) {
        return (length + PART_BYTES - 1) / PART_BYTES;
    }

    /// @notice Merkle list over the input roots; zero if there are none.
    function listRoot(bytes32[] calldata roots) internal view returns (bytes32) {
        return roots.length == 0 ? bytes32(0) : PositionalMerkle.leavesRoot(roots);
    }

    /// @notice Checks the bytes of a whole input.
    function checkWhole(bytes calldata header, uint256 input, bytes calldata data, bytes32 root) internal view {
        uint256 expected = header.inputBytes(input);
        require(data.length == expected, IJobMarket.WrongInputLength(input, data.length, expected));
        bytes32 actual = TensorTree.root(data);
        require(actual == root, IJobMarket.WrongInputRoot(input, root, actual));
    }

    /// @notice Checks one part of an input, down from the job's inputs root.
    function checkPart(bytes calldata header, bytes32 inputsRoot, InputPart calldata part) internal view {
        uint256 length = header.inputBytes(part.input);
        require(part.part < partCount(length), IJobMarket.NoSuchPart(part.input, part.part));
        require(
            PositionalMerkle.leafUnder(inputsRoot, header.inputCount(), part.inputRoot, part.input, part.inputSiblings),
            IJobMarket.WrongInputRoot(part.input, inputsRoot, part.inputRoot)
        );
        uint256 left = length - part.part * PART_BYTES;
        uint256 expected = left < PART_BYTES ? left : PART_BYTES;
        require(part.data.length == expected, IJobMarket.WrongInputLength(part.input, part.data.length, expected));
        uint256 depth = PositionalMerkle.depth(TensorTree.chunkCount(length));
        uint256 levels = depth < PART_LEVELS ? depth : PART_LEVELS;
        bytes32 subtree = TensorTree.subtree(part.data, levels);
        require(
            PositionalMerkle.nodeUnder(part.inputRoot, depth - levels, subtree, part.part, part.siblings),
            IJobMarket.WrongInputRoot(part.input, part.inputRoot, subtree)
        );
    }
}
