// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IJobMarket, JobStatus, ClaimStatus} from "../interfaces/IJobMarket.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {Descent} from "../game/Descent.sol";
import {Payouts} from "../game/Payouts.sol";
import {JobPosting} from "./JobPosting.sol";
import {JobRecords} from "./JobRecords.sol";
import {Runs} from "../program/Runs.sol";
import {ResultDelivery} from "./ResultDelivery.sol";
import {Job, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";

/// @title The job market. See IJobMarket.
/// @dev Posting and delivery are its base contracts; here is what lies between: claims, submissions, expiry, and the
/// game's part.
contract JobMarket is ResultDelivery, JobPosting {
    modifier onlyGame() {
        require(msg.sender == address(_game), NotGame(msg.sender));
        _;
    }

    /// @dev Reverts with `NotItsMarket` or `OtherParameters`, and as `ParameterChecks.check`.
    /// @param vault_ The vault, deployed before with this address as its market.
    /// @param game_ The game, likewise.
    /// @param p Parameters of the deployment.
    constructor(IStakeVault vault_, IDisputeGame game_, Parameters memory p) JobRecords(vault_, game_, p) {}

    /* ---- Claims and submissions ---- */

    /// @inheritdoc IJobMarket
    function claim(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.Open);
        require(_hasTime(job), DeadlineTooSoon(job.deadline, block.timestamp + job.claimSeconds));
        require(_provisioning.isLive(msg.sender), NotLive(msg.sender));
        uint256 until = block.timestamp + job.claimSeconds;
        _jobs[jobId] = JobRecord(JobStatus.Claimed, uint40(until), bytes26(bytes20(msg.sender)));
        emit JobClaimed(jobId, msg.sender, until);
        _vault.lock(msg.sender, _collateral);
    }

    /// @inheritdoc IJobMarket
    function submit(Job calldata job, bytes calldata nodes) external returns (bytes32 claimId) {
        bytes32 jobId = jobIdOf(job);
        JobRecord memory record = _jobs[jobId];
        _needJob(jobId, record.status, JobStatus.Claimed);
        address worker = address(bytes20(record.subject));
        require(msg.sender == worker, NotWorker(msg.sender, worker));
        require(block.timestamp <= record.number, TimeIsUp(record.number));
        bytes32 root = _claimRoot(job, nodes);
        claimId = JobIds.claimId(jobId, msg.sender, root);
        (, bool dead, , ) = _game.claimGames(claimId);
        // SAFETY: a refuted claim, against which no game can be opened, cannot come back under the same name.
        require(!dead, ClaimExists(claimId));
        uint256 windowEnd = block.timestamp + job.window;
        _jobs[jobId] = JobRecord(JobStatus.Submitted, uint40(windowEnd), bytes26(claimId));
        emit ClaimSubmitted(jobId, claimId, msg.sender, root, windowEnd, nodes);
    }

    /* ---- Expiry and cancellation ---- */

    /// @inheritdoc IJobMarket
    function expire(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        JobStatus status = record.status;
        if (status == JobStatus.Claimed) {
            require(block.timestamp > record.number, TimeNotUp(record.number));
            _expireClaimed(jobId, address(bytes20(record.subject)), _hasTime(job) ? JobStatus.Open : JobStatus.Closed);
            if (record.status == JobStatus.Closed) _refund(jobId, job, 0);
        } else {
            require(
                status == JobStatus.Open || status == JobStatus.AwaitingInput,
                WrongJobStatus(jobId, status, JobStatus.Open)
            );
            require(!_hasTime(job), TimeNotUp(job.deadline - job.claimSeconds));
            record.status = JobStatus.Closed;
            _refund(jobId, job, msg.sender == job.requester ? 0 : Math.min(_expiryReward(), job.fee));
        }
    }

    /// @inheritdoc IJobMarket
    function cancel(Job calldata job) external {
        bytes32 jobId = jobIdOf(job);
        JobRecord storage record = _jobs[jobId];
        require(msg.sender == job.requester, NotRequester(msg.sender, job.requester));
        require(
            record.status == JobStatus.Open || record.status == JobStatus.AwaitingInput,
            WrongJobStatus(jobId, record.status, JobStatus.Open)
        );
        record.status = JobStatus.Closed;
        _refund(jobId, job, 0);
    }

    /* ---- The game's calls ---- */

    /// @inheritdoc IJobMarket
    function gameOpened(bytes32 jobId, bytes32 claimId, address challenger, uint256 bond) external onlyGame {
        JobRecord memory record = _jobs[jobId];
        _needClaim(claimId, _statusOf(record, claimId), ClaimStatus.Submitted);
        require(block.timestamp <= record.number, WindowClosed(claimId, record.number));
        _vault.take(challenger, bond);
    }

    /// @inheritdoc IJobMarket
    function pay(address account, uint256 amount) external onlyGame {
        _vault.give(account, amount);
    }

    /// @inheritdoc IJobMarket
    function refuted(bytes32 jobId, bytes32 claimId, address worker) external onlyGame returns (uint256 collateral) {
        collateral = _collateral;
        // INVARIANT: a claim dies once.
        _needClaim(claimId, _statusOf(_jobs[jobId], claimId), ClaimStatus.Submitted);
        _reopen(jobId, JobStatus.Open);
        emit ClaimRefuted(jobId, claimId, worker, collateral);
        _vault.slash(worker, collateral);
    }

    /* ---- Helpers ---- */

    /// @dev The root over the nodes of a claim's list that a reveal at its root would show; of an answer, over all its
    /// outputs.
    function _claimRoot(Job calldata job, bytes calldata nodes) private view returns (bytes32 root) {
        uint256 width = Runs.claimWidth(job);
        uint256 depth = PositionalMerkle.depth(width);
        uint256 hop = job.answers == 0 ? Descent.hopOf(depth, _arityBits) : depth;
        root = Descent.checkChildren(0, width, depth, hop, nodes);
        require(root != 0, ZeroClaimRoot());
    }

    /// @dev Ends the claim of a worker that missed its time: takes the penalty, unlocks the rest of the collateral.
    function _expireClaimed(bytes32 jobId, address worker, JobStatus next) private {
        uint256 penalty = Payouts.penalty(_collateral, _penaltyBps);
        emit JobExpired(jobId, worker, penalty);
        _reopen(jobId, next);
        _vault.slash(worker, penalty);
        _vault.unlock(worker, _collateral - penalty);
        // SAFETY: a worker that is late gets nothing of its penalty back, and others no more than their gas (never
        // above the penalty: ParameterChecks).
        uint256 reward = msg.sender == worker ? 0 : _expiryReward();
        if (reward != 0) _vault.give(msg.sender, reward);
        _vault.give(_sink, penalty - reward);
    }

    /// @dev Returns the fee of a job that is closed.
    /// @param reward The part of the fee for the caller who closed the job.
    function _refund(bytes32 jobId, Job calldata job, uint256 reward) private {
        uint256 amount = job.fee - reward;
        _jobs[jobId].subject = bytes26(uint208(amount));
        emit JobClosed(jobId, amount);
        if (reward != 0) _vault.give(msg.sender, reward);
        if (amount != 0) _vault.give(job.requester, amount);
    }
}
