// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IClaimContract} from "../interfaces/IClaimContract.sol";
import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {JobStatus, ClaimStatus, Delivery} from "../interfaces/IMarketEvents.sol";
import {Callback} from "./Callback.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, ClaimKey, JobIds} from "../types/Job.sol";
import {JobClaims} from "./JobClaims.sol";

/// @title The end of an undisputed claim: finalisation, delivery of outputs, release of the fee.
abstract contract ResultDelivery is IJobMarket, JobClaims {
    using JobIds for ClaimKey;

    /* ---- Calls ---- */

    /// @inheritdoc IClaimContract
    function finalise(Claim calldata claim_) external {
        (JobId jobId, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        _requireClaim(claimId, status, ClaimStatus.Submitted);
        _requireStands(jobId, claimId);
        bool complete = claim_.job.deliverables == 0;
        _finalise(jobId, claimId, claim_, complete);
        if (complete) _release(jobId, claimId, claim_);
    }

    /// @inheritdoc IJobMarket
    function deliver(Claim calldata claim_, Delivery calldata delivery) external {
        (JobId jobId, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        uint256 output = delivery.output;
        uint64 wanted = claim_.job.deliverables;
        // Outputs past the 64th have no bit.
        require((wanted >> output) & 1 == 1, NotDeliverable(output));
        Deliveries memory done;
        bool isNew = status == ClaimStatus.Submitted;
        if (isNew) _requireStands(jobId, claimId);
        else {
            _requireClaim(claimId, status, ClaimStatus.Finalised);
            require(_jobs[jobId].status != JobStatus.Complete, AlreadyDelivered(claimId, output));
            done = _deliveries[claimId];
        }
        _checkOutput(claim_, claim_.job.items - 1, delivery);
        uint64 bit = uint64(1 << output);
        bool first = done.delivered & bit == 0;
        bool call = claim_.job.callbackGas != 0 && done.calledBack & bit == 0;
        require(first || call, AlreadyDelivered(claimId, output));
        if (first) done.delivered |= bit;
        bool release = done.delivered == wanted && !done.paid;
        if (release) done.paid = true;
        // SAFETY: mark everything before the call, as if the call succeeded. A consumer that calls back in finds
        // nothing left to take.
        if (call) done.calledBack |= bit;
        bool complete = done.delivered == wanted && (claim_.job.callbackGas == 0 || done.calledBack == wanted);
        if (!complete) _deliveries[claimId] = done;
        if (isNew) _finalise(jobId, claimId, claim_, complete);
        else if (complete) _jobs[jobId].status = JobStatus.Complete;
        if (first) emit OutputDelivered(jobId, claimId, output, delivery.data);
        if (release) _release(jobId, claimId, claim_);
        if (!call) return;
        if (Callback.onResult(claim_.job.requester, claim_.job.callbackGas, jobId, output, delivery.data)) {
            emit CallbackMade(jobId, output);
        } else {
            // SAFETY: a failed call has undone all its own changes, and the marks set before still hold: only the
            // callback's mark is removed.
            done.calledBack &= ~bit;
            _deliveries[claimId] = done;
            _jobs[jobId].status = JobStatus.Finalised;
            emit CallbackFailed(jobId, output);
        }
    }

    /* ---- Views ---- */

    /// @inheritdoc IJobMarket
    function claimOf(
        ClaimKey calldata key
    ) external view returns (ClaimStatus status, uint256 time, uint256 delivered, uint256 calledBack, bool paid) {
        ClaimId claimId = key.claimId();
        JobRecord memory record = _jobs[key.jobId];
        status = _statusOf(record, claimId);
        (, bool dead, , ) = _game.claimGames(claimId);
        if (dead) return (ClaimStatus.Refuted, 0, 0, 0, false);
        if (status == ClaimStatus.None) return (status, 0, 0, 0, false);
        Deliveries storage done = _deliveries[claimId];
        // Accepted and proven claims are paid too; a sealed one has no status.
        bool complete = record.status >= JobStatus.Complete;
        return (status, record.number, done.delivered, done.calledBack, complete || done.paid);
    }

    /* ---- Helpers ---- */

    /// @dev Requires that a submitted claim's window has ended and that nobody disputes the claim.
    function _requireStands(JobId jobId, ClaimId claimId) private view {
        _requireOver(claimId, _jobs[jobId].number);
        _requireUndisputed(claimId);
    }

    /// @dev Ends such a claim. @param complete Whether all is done, too.
    function _finalise(JobId jobId, ClaimId claimId, Claim calldata claim_, bool complete) private {
        JobStatus next = complete ? JobStatus.Complete : JobStatus.Finalised;
        _write(_jobs[jobId], next, uint40(block.timestamp), _subjectOf(claimId));
        emit ClaimFinalised(jobId, claimId);
        _vault.unlock(claim_.worker, claim_.collateral);
    }
}
