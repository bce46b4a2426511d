// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobStatus} from "../interfaces/IMarketEvents.sol";
import {Payouts} from "../game/Payouts.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Job, JobIds} from "../types/Job.sol";
import {Admission} from "./Admission.sol";
import {ClaimOutputs} from "./ClaimOutputs.sol";

/// @title How a worker takes a job, submits, and misses its time: with terms (MarketExtension) or without (JobMarket).
abstract contract JobClaims is ClaimOutputs {
    /// @dev Gives an open job to the caller.
    /// @param collateral What is locked.
    function _take(JobId jobId, Job calldata job, uint128 collateral) internal {
        require(_hasTime(job), DeadlineTooSoon(job.deadline, block.timestamp + job.claimSeconds));
        require(_provisioning.isLive(msg.sender), NotLive(msg.sender));
        uint256 until = block.timestamp + job.claimSeconds;
        _write(_jobs[jobId], JobStatus.Claimed, uint40(until), bytes26(bytes20(msg.sender)));
        emit JobClaimed(jobId, msg.sender, until);
        _vault.lock(msg.sender, collateral);
    }

    /// @dev Requires that the caller has claimed the job and still has time.
    function _requireWorker(JobId jobId) internal view {
        JobRecord memory record = _jobs[jobId];
        _requireJob(jobId, record.status, JobStatus.Claimed);
        address worker = address(bytes20(record.subject));
        require(msg.sender == worker, NotWorker(msg.sender, worker));
        require(block.timestamp <= record.number, TimeIsUp(record.number));
    }

    /// @dev Makes a worker's claim, and starts its window.
    /// @param collateral What is locked behind it.
    function _submit(
        JobId jobId,
        Job calldata job,
        address worker,
        uint128 collateral,
        bytes calldata nodes
    ) internal returns (ClaimId claimId) {
        bytes32 root = _claimRoot(job, nodes);
        claimId = JobIds.claimId(jobId, worker, root, collateral);
        (, bool dead, , ) = _game.claimGames(claimId);
        // SAFETY: a refuted claim, against which no game can be opened, cannot come back under the same name.
        require(!dead, ClaimExists(claimId));
        uint256 windowEnd = block.timestamp + job.window;
        _write(_jobs[jobId], JobStatus.Submitted, uint40(windowEnd), _subjectOf(claimId));
        emit ClaimSubmitted(jobId, claimId, worker, root, collateral, windowEnd, nodes);
    }

    /// @dev Returns the root over the nodes that a reveal at the claim root would show; for an answer, over all
    /// outputs.
    function _claimRoot(Job calldata job, bytes calldata nodes) internal view returns (bytes32 root) {
        root = Admission.nodesRoot(job.answers, job.items, job.checkpoints, _arityBits, nodes);
        require(root != 0, ZeroClaimRoot());
    }

    /// @dev Ends the claim of a worker who missed the deadline: takes the penalty, unlocks the rest of the collateral.
    function _expireClaimed(JobId jobId, Job calldata job, uint128 collateral) internal {
        JobRecord memory record = _jobs[jobId];
        require(block.timestamp > record.number, TimeNotUp(record.number));
        address worker = address(bytes20(record.subject));
        uint256 penalty = Payouts.penalty(collateral, _penaltyBps);
        emit JobExpired(jobId, worker, penalty);
        JobStatus next = _hasTime(job) ? JobStatus.Open : JobStatus.Closed;
        _reopen(jobId, next);
        _vault.slash(worker, penalty, true);
        _vault.unlock(worker, collateral - penalty);
        _giveForfeit(worker, penalty);
        if (next == JobStatus.Closed) _refund(jobId, job, 0);
    }

    /// @dev Distributes a late worker's forfeit: pays the caller for the call, and the rest to the sink.
    function _giveForfeit(address worker, uint256 amount) internal {
        // SAFETY: a late worker gets nothing back from its penalty, and others receive no more than their gas (never
        // above the penalty: ParameterChecks).
        uint256 reward = msg.sender == worker ? 0 : _expiryReward();
        if (reward != 0) _vault.give(msg.sender, reward);
        _vault.give(_sink, amount - reward);
    }
}
