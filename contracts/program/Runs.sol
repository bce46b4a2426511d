// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {TensorTree} from "../merkle/TensorTree.sol";
import {Job} from "../types/Job.sol";
import {InputSource, ProgramHeader} from "./ProgramHeader.sol";

/// @title Runs: one program executed item after item (docs/program.md, "Run"). Locates data under the roots of a job
/// and a claim.
library Runs {
    using ProgramHeader for bytes;

    /// @notice Maximum number of items of a run: 16 levels, for which bonds are sized (GasSchedule).
    uint256 internal constant MAX_ITEMS = 1 << 16;
    /// @notice Extra work per item besides the program's work: beginning and ending an execution, in units of work.
    uint256 internal constant ITEM_WORK = 20_000;

    error PathTooShort(uint256 given, uint256 least);

    /// @notice Returns the work for a run with `items` program executions, in units of work. No overflow: 64 and 32
    /// bits.
    function work(uint256 items, uint256 programWork) internal pure returns (uint256) {
        return items * (programWork + ITEM_WORK);
    }

    /// @notice Returns the number of leaves under a claim's root: the outputs of an answer, the items, or the only
    /// item's checkpoints.
    function claimWidth(uint256 answers, uint256 items, uint256 checkpoints) internal pure returns (uint256) {
        if (answers != 0) return answers;
        return items == 1 ? checkpoints : items;
    }

    /// @notice Returns whether `root` is the job's tensor root for input `index` of item `item`.
    /// @param siblings The item's path in the list of the items' tensors, if each item has its own tensor. Then the
    /// path from the list's root, or from the tensor's, to the inputs root.
    function hasInput(
        Job calldata job,
        bytes calldata header,
        uint256 item,
        uint256 index,
        bytes32 root,
        bytes32[] calldata siblings
    ) internal view returns (bool) {
        (InputSource source, ) = header.inputSource(index);
        bytes32 node = root;
        uint256 below = source == InputSource.Each ? PositionalMerkle.depth(job.items) : 0;
        require(siblings.length >= below, PathTooShort(siblings.length, below));
        if (below != 0) node = PositionalMerkle.rootFromPath(root, item, siblings[:below]);
        return PositionalMerkle.leafUnder(job.inputsRoot, header.inputCount(), node, index, siblings[below:]);
    }

    /// @notice Returns the tensor root of an item's index: one int64.
    function indexRoot(Job calldata job, uint256 item) internal pure returns (bytes32) {
        bytes memory chunk = new bytes(TensorTree.CHUNK_BYTES);
        uint256 index = uint256(job.firstItem) + item;
        // Little-endian; less than 2^33.
        for (uint256 i = 0; i < 5; ++i) chunk[i] = bytes1(uint8(index >> (8 * i)));
        return sha256(chunk);
    }

    /// @notice Returns whether `root` equals an output's tensor root for item `item` in an answer.
    /// @param answer The root of the output list.
    /// @param each Whether each item has the output, not only the last item.
    /// @param siblings If each item has the output, the item's path in the list of output tensors; then the output's
    /// path.
    function hasAnswer(
        Job calldata job,
        bytes32 answer,
        bool each,
        uint256 item,
        uint256 output,
        bytes32 root,
        bytes32[] calldata siblings
    ) internal view returns (bool) {
        uint256 below = each ? PositionalMerkle.depth(job.items) : 0;
        require(siblings.length >= below, PathTooShort(siblings.length, below));
        bytes32 node = each ? PositionalMerkle.rootFromPath(root, item, siblings[:below]) : root;
        return PositionalMerkle.leafUnder(answer, job.answers, node, output, siblings[below:]);
    }

    /// @notice Returns whether `root` equals a checkpoint's tensor root for item `item`, under a run's root.
    /// @param siblings The checkpoint's path in the item's trace; then the trace root's path in the run.
    function hasCheckpoint(
        Job calldata job,
        bytes32 runRoot,
        uint256 item,
        uint256 checkpoint,
        bytes32 root,
        bytes32[] calldata siblings
    ) internal view returns (bool) {
        uint256 below = PositionalMerkle.depth(job.checkpoints);
        require(siblings.length >= below, PathTooShort(siblings.length, below));
        require(checkpoint < job.checkpoints, PositionalMerkle.PastWidth(checkpoint, job.checkpoints));
        bytes32 trace = PositionalMerkle.rootFromPath(root, checkpoint, siblings[:below]);
        return PositionalMerkle.leafUnder(runRoot, job.items, trace, item, siblings[below:]);
    }
}
