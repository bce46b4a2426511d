// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {IPledgedClaims} from "../../interfaces/IPledgedClaims.sol";
import {Clock} from "../../game/Clock.sol";
import {Descent} from "../../game/Descent.sol";
import {GasSchedule} from "../../game/GasSchedule.sol";
import {Inputs} from "../../market/Inputs.sol";
import {PositionalMerkle} from "../../merkle/PositionalMerkle.sol";
import {InputSource, ProgramHeader} from "../../program/ProgramHeader.sol";
import {ProgramProofs} from "../../program/ProgramProofs.sol";
import {Runs} from "../../program/Runs.sol";
import {Job} from "../../types/Job.sol";
import {Parameters} from "../../types/Parameters.sol";
import {ProgramFacts} from "../../types/Program.sol";
import {PledgedEntry} from "../../types/SignedClaim.sol";

/// @title The job behind a pledged claim: without a fee, without any delivery, and within every job's limits, so that
/// the claim can be disputed.
library PledgedJobs {
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;

    /// @dev As in the market (MarketParameters).
    uint256 private constant MAX_OUTPUTS = 64;
    uint256 private constant MAX_ANSWERS = 16;

    /// @notice The job of an entry by the contract `authoriser`.
    function jobOf(
        PledgedEntry calldata entry,
        address authoriser,
        Parameters memory p
    ) internal view returns (Job memory) {
        bytes calldata header = entry.program.header;
        // SAFETY: GasSchedule.seam pays for the gas that a header adds to moves.
        require(
            header.length <= GasSchedule.MAX_HEADER,
            IMarketEvents.HeaderTooLong(header.length, GasSchedule.MAX_HEADER)
        );
        bytes32 programRoot = entry.program.root();
        uint256 items = entry.items;
        require(items != 0 && items <= Runs.MAX_ITEMS, IMarketEvents.ItemsOutOfRange(items, Runs.MAX_ITEMS));
        uint256 work = Runs.work(items, header.work());
        require(work <= p.maxWork, IMarketEvents.TooMuchWork(work, p.maxWork));
        require(
            header.maxStepGas() <= p.maxStepGas,
            IMarketEvents.StepProofTooLarge(header.maxStepGas(), p.maxStepGas)
        );
        require(
            header.maxStepBytes() <= p.maxStepBytes,
            IMarketEvents.StepProofTooLong(header.maxStepBytes(), p.maxStepBytes)
        );
        return
            Job({
                requester: entry.requester,
                programRoot: programRoot,
                inputsRoot: Inputs.listRoot(entry.inputRoots),
                work: uint64(work),
                checkpoints: uint32(header.checkpointCount()),
                items: entry.items,
                firstItem: entry.firstItem,
                answers: _answers(header, items, entry.answer),
                fee: 0,
                // INVARIANT: the window holds the slowest honest re-execution.
                window: uint32(Clock.window(p.baseWindow, work, p.rate)),
                claimSeconds: 0,
                deadline: entry.issued,
                callbackGas: 0,
                maxOutputBytes: 0,
                deliverables: 0,
                rootOnly: entry.inputs.length == 0,
                salt: keccak256(abi.encode(authoriser, entry.salt)),
                termsHash: 0
            });
    }

    /// @notice Checks an entry's inputs, and tells them if their bytes are given.
    function checkInputs(bytes32 jobId, PledgedEntry calldata entry) internal {
        bytes calldata header = entry.program.header;
        uint256 count = header.inputCount();
        require(entry.inputRoots.length == count, IMarketEvents.WrongInputCount(entry.inputRoots.length, count));
        bool none = entry.inputs.length == 0;
        require(none || entry.inputs.length == count, IMarketEvents.WrongInputCount(entry.inputs.length, count));
        for (uint256 i = 0; i < count; ++i) {
            bytes32 root = entry.inputRoots[i];
            (InputSource source, ) = header.inputSource(i);
            // INVARIANT: unread fields are zero, so a job has only one id.
            require(source != InputSource.Index || root == 0, IMarketEvents.WrongInputRoot(i, root, 0));
            if (none) continue;
            bytes calldata data = entry.inputs[i];
            if (source == InputSource.Index || Inputs.isZeros(header, i, root)) {
                require(data.length == 0, IMarketEvents.WrongInputLength(i, data.length, 0));
                continue;
            }
            Inputs.checkWhole(header, i, Inputs.tensorCount(header, i, entry.items), data, root);
            emit IMarketEvents.InputPublished(jobId, i, 0, data);
        }
    }

    /// @notice Requires that the nodes belong to an entry's root. An answer must supply its nodes: they are the
    /// outputs. If the nodes of a trace or a run are missing, a game begins at the root and takes one more round.
    function checkNodes(Job memory job, bytes32 root, uint256 arityBits, bytes calldata nodes) internal view {
        require(root != 0, IMarketEvents.ZeroClaimRoot());
        if (nodes.length == 0) {
            require(job.answers == 0, IPledgedClaims.NodesMissing());
            return;
        }
        uint256 width = job.answers;
        if (width == 0) width = job.items == 1 ? job.checkpoints : job.items;
        uint256 depth = PositionalMerkle.depth(width);
        uint256 hop = job.answers == 0 ? Descent.hopOf(depth, arityBits) : depth;
        bytes32 actual = Descent.checkChildren(0, width, depth, hop, nodes);
        require(actual == root, IPledgedClaims.WrongClaimRoot(root, actual));
    }

    /// @dev Output roots of an answer, and whether all outputs can be disputed. 0 for the roots of traces.
    function _answers(bytes calldata header, uint256 items, bool answer) private pure returns (uint8) {
        uint256 count = header.outputCount();
        require(count <= MAX_OUTPUTS, IMarketEvents.TooManyOutputs(count, MAX_OUTPUTS));
        require(!answer || count <= MAX_ANSWERS, IMarketEvents.TooManyAnswers(count, MAX_ANSWERS));
        bool lastOnly = answer && items != 1 && header.carries();
        for (uint256 i = 0; i < count; ++i) {
            (, , bool each) = header.output(i);
            // SAFETY: as in the market: such a dispute would take more levels than bonds are sized for.
            require(!(lastOnly && each), IMarketEvents.AnswerOfCarriedItems(i));
        }
        return answer ? uint8(count) : 0;
    }
}
