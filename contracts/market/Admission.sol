// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents, ProofObstacle} from "../interfaces/IMarketEvents.sol";
import {Descent} from "../game/Descent.sol";
import {GasSchedule} from "../game/GasSchedule.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {InputSource, ProgramHeader} from "../program/ProgramHeader.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {Runs} from "../program/Runs.sol";
import {JobId} from "../types/Ids.sol";
import {ProgramFacts} from "../types/Program.sol";
import {Inputs} from "./Inputs.sol";

/// @title What every job must keep to, in a market or behind a pledged claim, so that claims about it can be disputed:
/// limits of the program, its outputs, its inputs, and the nodes of a claim.
library Admission {
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;

    /// @dev Maximum number of outputs in a served program: one bit each in a 64-bit word.
    uint256 internal constant MAX_OUTPUTS = 64;
    /// @dev Maximum number of outputs in an answer: the worker submits all their roots.
    uint256 internal constant MAX_ANSWERS = 16;

    /// @notice Checks that a program, executed `items` times, keeps to a deployment's limits.
    /// @param maxWork Limit of the whole work, in units of work.
    /// @param maxStepGas Limit of a step proof's gas.
    /// @param maxStepBytes Limit of a step proof's bytes.
    /// @return programRoot The program's root.
    /// @return work The whole work.
    function checkProgram(
        ProgramFacts calldata program,
        uint256 items,
        uint64 maxWork,
        uint32 maxStepGas,
        uint32 maxStepBytes
    ) internal view returns (bytes32 programRoot, uint256 work) {
        bytes calldata header = program.header;
        // SAFETY: GasSchedule.seam pays for the gas that a header adds to moves.
        require(
            header.length <= GasSchedule.MAX_HEADER,
            IMarketEvents.HeaderTooLong(header.length, GasSchedule.MAX_HEADER)
        );
        programRoot = program.root();
        require(items != 0 && items <= Runs.MAX_ITEMS, IMarketEvents.ItemsOutOfRange(items, Runs.MAX_ITEMS));
        work = Runs.work(items, header.work());
        require(work <= maxWork, IMarketEvents.TooMuchWork(work, maxWork));
        require(header.maxStepGas() <= maxStepGas, IMarketEvents.StepProofTooLarge(header.maxStepGas(), maxStepGas));
        require(
            header.maxStepBytes() <= maxStepBytes,
            IMarketEvents.StepProofTooLong(header.maxStepBytes(), maxStepBytes)
        );
    }

    /// @notice Checks that all outputs can be disputed.
    /// @param answer Whether a claim consists of the outputs' roots.
    /// @param most The largest deliverable output, in bytes.
    /// @return answers The number of output roots in a claim; 0 for claims of traces.
    /// @return deliverables Bit i: output i is the last item's, and has at most `most` bytes.
    function checkOutputs(
        bytes calldata header,
        uint256 items,
        bool answer,
        uint256 most
    ) internal pure returns (uint8 answers, uint64 deliverables) {
        uint256 count = header.outputCount();
        require(count <= MAX_OUTPUTS, IMarketEvents.TooManyOutputs(count, MAX_OUTPUTS));
        require(!answer || count <= MAX_ANSWERS, IMarketEvents.TooManyAnswers(count, MAX_ANSWERS));
        bool lastOnly = answer && items != 1 && header.carries();
        for (uint256 i = 0; i < count; ++i) {
            (, uint256 size, bool each) = header.output(i);
            // SAFETY: a dispute about an item in the middle would have to prove that the item and the last item belong
            // to the same run, and cover both lists' levels: more than bonds are sized for.
            require(!lastOnly || !each, IMarketEvents.AnswerOfCarriedItems(i));
            if (size <= most && !each) deliverables |= uint64(1 << i);
        }
        if (answer) answers = uint8(count);
    }

    /// @notice Checks that a proof can say all that a claim about a job says.
    /// @param answer Whether a claim consists of the outputs' roots.
    function checkProvable(bytes calldata header, uint256 items, bool answer) internal pure {
        // SAFETY: a trace's root holds tensors about which a proof says nothing.
        require(answer, IMarketEvents.NotProvable(ProofObstacle.NotAnAnswer));
        require(items == 1, IMarketEvents.NotProvable(ProofObstacle.SeveralItems));
        uint256 count = header.inputCount();
        for (uint256 i = 0; i < count; ++i) {
            (InputSource source, ) = header.inputSource(i);
            require(source == InputSource.Shared, IMarketEvents.NotProvable(ProofObstacle.InputNotShared));
        }
    }

    /// @notice Checks how many inputs are given.
    /// @param inputRoots The root of each input.
    /// @param inputs The bytes of each input; empty: none are given.
    /// @return count The program's number of inputs.
    /// @return none Whether the bytes of no input are given.
    function checkInputCount(
        bytes calldata header,
        bytes32[] calldata inputRoots,
        bytes[] calldata inputs
    ) internal pure returns (uint256 count, bool none) {
        count = header.inputCount();
        require(inputRoots.length == count, IMarketEvents.WrongInputCount(inputRoots.length, count));
        none = inputs.length == 0;
        require(none || inputs.length == count, IMarketEvents.WrongInputCount(inputs.length, count));
    }

    /// @notice Checks an input's root, and publishes its bytes if they are given.
    /// @param i The input's number.
    /// @param tensors The number of its tensors (`Inputs.tensorCount`).
    /// @param data All its bytes, or none.
    /// @return complete Whether everybody knows the input: its bytes are given, or nobody needs them.
    function takeInput(
        JobId jobId,
        bytes calldata header,
        uint256 i,
        uint256 tensors,
        bytes32 root,
        bytes calldata data
    ) internal returns (bool complete) {
        if (tensors == 0 || Inputs.isZeros(header, i, root)) {
            require(data.length == 0, IMarketEvents.WrongInputLength(i, data.length, 0));
            // INVARIANT: unread fields contain zero, and a job therefore has one id.
            require(tensors != 0 || root == 0, IMarketEvents.WrongInputRoot(i, root, 0));
            return true;
        }
        if (data.length == 0) return false;
        Inputs.checkWhole(header, i, tensors, data, root);
        emit IMarketEvents.InputPublished(jobId, i, 0, data);
        return true;
    }

    /// @notice Returns the root over the nodes that a reveal at a claim's root would show; for an answer, over all
    /// outputs.
    /// @param answers The number of output roots in the claim; 0 for a claim of traces.
    function nodesRoot(
        uint256 answers,
        uint256 items,
        uint256 checkpoints,
        uint256 arityBits,
        bytes calldata nodes
    ) internal view returns (bytes32) {
        uint256 width = Runs.claimWidth(answers, items, checkpoints);
        uint256 depth = PositionalMerkle.depth(width);
        uint256 hop = answers == 0 ? Descent.hopOf(depth, arityBits) : depth;
        return Descent.checkChildren(0, width, depth, hop, nodes);
    }
}
