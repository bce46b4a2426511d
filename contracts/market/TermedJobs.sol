// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimStatus, JobStatus} from "../interfaces/IMarketEvents.sol";
import {IMarketExtension} from "../interfaces/IMarketExtension.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, Job} from "../types/Job.sol";
import {Terms} from "../types/Terms.sol";
import {TermedClaims} from "./TermedClaims.sol";

/// @title Jobs that have terms. See IMarketExtension.
abstract contract TermedJobs is IMarketExtension, TermedClaims {
    /* ---- Claims and submissions ---- */

    /// @inheritdoc IMarketExtension
    function claimOnTerms(Job calldata job, Terms calldata terms) external {
        _claimOnTerms(job, terms);
    }

    /// @inheritdoc IMarketExtension
    function submitOnTerms(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes
    ) external returns (ClaimId claimId) {
        return _submitOnTerms(job, terms, nodes);
    }

    /// @inheritdoc IMarketExtension
    function claimAndSubmit(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes
    ) external returns (ClaimId claimId) {
        // SAFETY: of a job that others may claim too, they would copy the nodes and claim first.
        require(terms.reservedFor == msg.sender, ReservedForAnother(msg.sender, terms.reservedFor));
        _claimOnTerms(job, terms);
        return _submitOnTerms(job, terms, nodes);
    }

    /* ---- Seals ---- */

    /// @inheritdoc IMarketExtension
    function seal(Job calldata job, Terms calldata terms, bytes32 seal_) external {
        JobId jobId = _sealedJob(job, terms);
        _requireWorker(jobId);
        _write(_jobs[jobId], JobStatus.Sealed, uint40(block.timestamp), _sealOf(msg.sender, seal_));
        emit ClaimSealed(jobId, msg.sender, seal_);
    }

    /// @inheritdoc IMarketExtension
    function openSeal(
        Job calldata job,
        Terms calldata terms,
        address worker,
        bytes32 salt,
        bytes calldata nodes
    ) external returns (ClaimId claimId) {
        JobId jobId = _sealedJob(job, terms);
        bytes32 root = _claimRoot(job, nodes);
        _requireSeal(jobId, worker, keccak256(abi.encode(jobId, worker, root, salt)));
        require(block.timestamp >= terms.openFrom, TimeNotUp(terms.openFrom));
        uint256 until = _openUntil(terms);
        require(block.timestamp <= until, TimeIsUp(until));
        return _submit(jobId, job, worker, terms.collateral, nodes);
    }

    /// @inheritdoc IMarketExtension
    function breakSeal(Job calldata job, Terms calldata terms, address worker, bytes32 seal_) external {
        JobId jobId = _sealedJob(job, terms);
        _requireSeal(jobId, worker, seal_);
        uint256 until = _openUntil(terms);
        require(block.timestamp > until, TimeNotUp(until));
        emit SealBroken(jobId, worker, terms.collateral);
        _reopen(jobId, JobStatus.Closed);
        // SAFETY: the whole collateral. Else a worker could look at what others opened, and choose to open or to pay.
        _vault.slash(worker, terms.collateral, true);
        _giveForfeit(worker, terms.collateral);
        _refund(jobId, job, 0);
    }

    /* ---- Ends ---- */

    /// @inheritdoc IMarketExtension
    function expireOnTerms(Job calldata job, Terms calldata terms) external {
        JobId jobId = _termedJob(job, terms);
        _requireJob(jobId, _jobs[jobId].status, JobStatus.Claimed);
        _expireClaimed(jobId, job, terms.collateral);
    }

    /// @inheritdoc IMarketExtension
    function acceptEarly(Claim calldata claim_, Terms calldata terms) external {
        JobId jobId = _termedJob(claim_.job, terms);
        require(terms.earlyAccept, NoEarlyAccept(jobId));
        require(msg.sender == claim_.job.requester, NotRequester(msg.sender, claim_.job.requester));
        (, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        _requireClaim(claimId, status, ClaimStatus.Submitted);
        // SAFETY: a claim's collateral pays the claim's challengers.
        _requireUndisputed(claimId);
        _write(_jobs[jobId], JobStatus.Accepted, uint40(block.timestamp), _subjectOf(claimId));
        emit ClaimAccepted(jobId, claimId);
        _vault.unlock(claim_.worker, claim_.collateral);
        _release(jobId, claimId, claim_);
    }

    /* ---- Helpers ---- */

    /// @dev Like `_termedJob`, for a job with sealed submissions.
    function _sealedJob(Job calldata job, Terms calldata terms) private view returns (JobId jobId) {
        jobId = _termedJob(job, terms);
        require(terms.openFrom != 0, NotSealed(jobId));
    }

    /// @dev Requires that a job is sealed with the given worker's seal.
    function _requireSeal(JobId jobId, address worker, bytes32 seal_) private view {
        JobRecord memory record = _jobs[jobId];
        _requireJob(jobId, record.status, JobStatus.Sealed);
        require(record.subject == _sealOf(worker, seal_), WrongSeal(jobId));
    }

    /// @dev Returns the stored form of a seal. SAFETY: a claim's id hashes two words, and a seal hashes three, so no
    /// seal equals an id.
    function _sealOf(address worker, bytes32 seal_) private pure returns (bytes26) {
        return bytes26(keccak256(abi.encode(JobStatus.Sealed, worker, seal_)));
    }

    /// @dev Until when seals can be opened: a clock's time, in which a transaction cannot be kept out.
    function _openUntil(Terms calldata terms) private view returns (uint256) {
        return uint256(terms.openFrom) + _baseClock;
    }
}
