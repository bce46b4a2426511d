// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents, InputPart} from "../interfaces/IMarketEvents.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {InputSource, ProgramHeader} from "../program/ProgramHeader.sol";
import {Runs} from "../program/Runs.sol";
import {TensorTree} from "../merkle/TensorTree.sol";
import {Job} from "../types/Job.sol";

/// @title Checks input bytes against the roots that a job names: whole, or in aligned parts. If each item has its own
/// tensor, the input's bytes are the items' tensors in order, and its root is the root over the list of tensor roots.
library Inputs {
    using ProgramHeader for bytes;

    /// @dev Levels of a full part: 128 chunks, 64 KiB. A part with its proofs stays below 90,000 bytes, which every
    /// network's pool accepts; its calldata costs 2.6 M gas at EIP-7623's floor.
    uint256 internal constant PART_LEVELS = 7;
    uint256 internal constant PART_CHUNKS = 1 << PART_LEVELS;
    uint256 internal constant PART_BYTES = PART_CHUNKS * TensorTree.CHUNK_BYTES;
    /// @dev The maximum number of parts for all items' tensors of an input: the range of `InputPart.part`.
    uint256 internal constant MAX_PARTS = 1 << 32;

    /// @notice Returns the number of tensors of input `index` in a job with `items` items: zero for the index, which
    /// has no posted bytes.
    function tensorCount(bytes calldata header, uint256 index, uint256 items) internal pure returns (uint256) {
        (InputSource source, ) = header.inputSource(index);
        if (source == InputSource.Index) return 0;
        return source == InputSource.Each ? items : 1;
    }

    /// @notice Returns whether an input is known without its bytes: carried state that begins with zeros.
    function isZeros(bytes calldata header, uint256 index, bytes32 root) internal view returns (bool) {
        (InputSource source, ) = header.inputSource(index);
        return source == InputSource.Carried && root == TensorTree.zeroRoot(header.inputBytes(index));
    }

    /// @notice Parts of a tensor of `length` bytes.
    function partCount(uint256 length) internal pure returns (uint256) {
        return (length + PART_BYTES - 1) / PART_BYTES;
    }

    /// @notice Merkle list over the input roots; zero if there are none.
    function listRoot(bytes32[] calldata roots) internal view returns (bytes32) {
        return roots.length == 0 ? bytes32(0) : PositionalMerkle.leavesRoot(roots);
    }

    /// @notice Checks the bytes of a whole input: those of its `tensors` tensors, in order.
    function checkWhole(
        bytes calldata header,
        uint256 input,
        uint256 tensors,
        bytes calldata data,
        bytes32 root
    ) internal view {
        uint256 length = header.inputBytes(input);
        require(data.length == tensors * length, IMarketEvents.WrongInputLength(input, data.length, tensors * length));
        bytes32[] memory roots = new bytes32[](tensors);
        for (uint256 k = 0; k < tensors; ++k) roots[k] = TensorTree.root(data[k * length:(k + 1) * length]);
        bytes32 actual = PositionalMerkle.leavesRoot(roots);
        require(actual == root, IMarketEvents.WrongInputRoot(input, root, actual));
    }

    /// @notice Checks one part of an input, down from the job's inputs root. Part numbers run tensor after tensor.
    function checkPart(bytes calldata header, Job calldata job, InputPart calldata part) internal view {
        uint256 length = header.inputBytes(part.input);
        uint256 parts = partCount(length);
        uint256 tensor = part.part / parts;
        require(tensor < tensorCount(header, part.input, job.items), IMarketEvents.NoSuchPart(part.input, part.part));
        require(
            Runs.hasInput(job, header, tensor, part.input, part.inputRoot, part.inputSiblings),
            IMarketEvents.WrongInputRoot(part.input, job.inputsRoot, part.inputRoot)
        );
        uint256 number = part.part % parts;
        uint256 left = length - number * PART_BYTES;
        uint256 expected = left < PART_BYTES ? left : PART_BYTES;
        require(part.data.length == expected, IMarketEvents.WrongInputLength(part.input, part.data.length, expected));
        uint256 depth = PositionalMerkle.depth(TensorTree.chunkCount(length));
        uint256 levels = depth < PART_LEVELS ? depth : PART_LEVELS;
        bytes32 subtree = TensorTree.subtree(part.data, levels);
        require(
            PositionalMerkle.nodeUnder(part.inputRoot, depth - levels, subtree, number, part.siblings),
            IMarketEvents.WrongInputRoot(part.input, part.inputRoot, subtree)
        );
    }
}
