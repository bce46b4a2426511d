// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {IPledgedClaims} from "../../interfaces/IPledgedClaims.sol";
import {Clock} from "../../game/Clock.sol";
import {Admission} from "../../market/Admission.sol";
import {Inputs} from "../../market/Inputs.sol";
import {ProgramHeader} from "../../program/ProgramHeader.sol";
import {JobId} from "../../types/Ids.sol";
import {Job} from "../../types/Job.sol";
import {Parameters} from "../../types/Parameters.sol";
import {PledgedEntry} from "../../types/SignedClaim.sol";

/// @title The job behind a pledged claim: without a fee, without any delivery, and within every job's limits, so that
/// the claim can be disputed.
library PledgedJobs {
    using ProgramHeader for bytes;

    /// @notice The job of an entry by the contract `authoriser`.
    function jobOf(
        PledgedEntry calldata entry,
        address authoriser,
        Parameters memory p
    ) internal view returns (Job memory) {
        bytes calldata header = entry.program.header;
        (bytes32 programRoot, uint256 work) = Admission.checkProgram(
            entry.program,
            entry.items,
            p.maxWork,
            p.maxStepGas,
            p.maxStepBytes
        );
        (uint8 answers, ) = Admission.checkOutputs(header, entry.items, entry.answer, 0);
        return
            Job({
                requester: entry.requester,
                programRoot: programRoot,
                inputsRoot: Inputs.listRoot(entry.inputRoots),
                work: uint64(work),
                checkpoints: uint32(header.checkpointCount()),
                items: entry.items,
                firstItem: entry.firstItem,
                answers: answers,
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
    function checkInputs(JobId jobId, PledgedEntry calldata entry) internal {
        bytes calldata header = entry.program.header;
        (uint256 count, bool none) = Admission.checkInputCount(header, entry.inputRoots, entry.inputs);
        for (uint256 i = 0; i < count; ++i) {
            uint256 tensors = Inputs.tensorCount(header, i, entry.items);
            bytes calldata data = none ? header[:0] : entry.inputs[i];
            bool complete = Admission.takeInput(jobId, header, i, tensors, entry.inputRoots[i], data);
            require(none || complete, IMarketEvents.WrongInputLength(i, 0, tensors * header.inputBytes(i)));
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
        bytes32 actual = Admission.nodesRoot(job.answers, job.items, job.checkpoints, arityBits, nodes);
        require(actual == root, IPledgedClaims.WrongClaimRoot(root, actual));
    }
}
