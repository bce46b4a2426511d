// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Delivery} from "../interfaces/IMarketEvents.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {Runs} from "../program/Runs.sol";
import {TensorTree} from "../merkle/TensorTree.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim} from "../types/Job.sol";
import {JobRecords} from "./JobRecords.sol";

/// @title Code that market and extension share for claims: checking a claim's output, and paying its fee.
abstract contract ClaimOutputs is JobRecords {
    using ProgramHeader for bytes;

    /// @dev SAFETY: an output is proven at its own position: at the depth of the program's checkpoints and of the run,
    /// or of the answer.
    function _checkOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) internal view {
        _requireProgram(delivery.program, claim_.job.programRoot);
        (uint256 checkpoint, uint256 size, bool each) = delivery.program.header.output(delivery.output);
        // The other outputs are the last item's alone.
        require(each || item == claim_.job.items - 1, NotAnOutputOfItem(delivery.output, item));
        require(delivery.data.length == size, WrongOutputLength(delivery.output, delivery.data.length, size));
        bytes32 root = TensorTree.root(delivery.data);
        bytes32[] calldata siblings = delivery.siblings;
        bool proven =
            claim_.job.answers == 0
                ? Runs.hasCheckpoint(claim_.job, claim_.root, item, checkpoint, root, siblings)
                : Runs.hasAnswer(claim_.job, claim_.root, each, item, delivery.output, root, siblings);
        require(proven, OutputNotInClaim(delivery.output));
    }

    /// @dev Pays the fee to the worker.
    function _release(JobId jobId, ClaimId claimId, Claim calldata claim_) internal {
        emit FeeReleased(jobId, claimId, claim_.worker, claim_.job.fee);
        if (claim_.job.fee != 0) _vault.give(claim_.worker, claim_.job.fee);
    }
}
