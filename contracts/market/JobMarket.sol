// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {Deployment, Delivery, JobStatus, ClaimStatus, Proof} from "../interfaces/IMarketEvents.sol";
import {IMarketExtension} from "../interfaces/IMarketExtension.sol";
import {IClaimContract} from "../interfaces/IClaimContract.sol";
import {IProvenJobs} from "../interfaces/IProvenJobs.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {ClaimContract} from "./ClaimContract.sol";
import {MarketExtension} from "./MarketExtension.sol";
import {ProofExtension} from "./ProofExtension.sol";
import {JobPosting} from "./JobPosting.sol";
import {JobRecords} from "./JobRecords.sol";
import {ResultDelivery} from "./ResultDelivery.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, ClaimKey, Job} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {Terms} from "../types/Terms.sol";

/// @title The job market. See IJobMarket.
/// @dev Posting and delivery are its base contracts; here is what lies between: claims, submissions, expiry, and the
/// game's part.
contract JobMarket is ResultDelivery, JobPosting, ClaimContract {
    MarketExtension private immutable _extension;
    ProofExtension private immutable _proofs;

    /// @dev Reverts with `NotItsMarket` or `OtherParameters`, and as `ParameterChecks.check`.
    /// @param vault_ The vault, deployed before with this address as market.
    /// @param game_ The game, likewise.
    /// @param extension_ The code of rare calls, deployed before with the same vault, game and parameters.
    /// @param p Parameters of the deployment.
    constructor(
        IStakeVault vault_,
        IDisputeGame game_,
        MarketExtension extension_,
        Parameters memory p
    ) JobRecords(vault_, game_, p) {
        _requireOwn(p);
        bytes32 extensionOf = keccak256(abi.encode(vault_, game_, p));
        require(extension_.extensionOf() == extensionOf, OtherParameters(address(extension_)));
        _extension = extension_;
        _proofs = extension_.proofs();
    }

    /* ---- Claims and submissions ---- */

    /// @inheritdoc IJobMarket
    function claim(Job calldata job) external {
        JobId jobId = _jobId(job);
        require(job.termsHash == 0, HasTerms(jobId));
        _requireJob(jobId, _jobs[jobId].status, JobStatus.Open);
        _take(jobId, job, _collateral);
    }

    /// @inheritdoc IJobMarket
    function submit(Job calldata job, bytes calldata nodes) external returns (ClaimId claimId) {
        JobId jobId = _jobId(job);
        require(job.termsHash == 0, HasTerms(jobId));
        _requireWorker(jobId);
        return _submit(jobId, job, msg.sender, _collateral, nodes);
    }

    /* ---- Expiry and cancellation ---- */

    /// @inheritdoc IJobMarket
    function expire(Job calldata job) external {
        JobId jobId = _jobId(job);
        JobRecord storage record = _jobs[jobId];
        JobStatus status = record.status;
        if (status == JobStatus.Claimed) {
            require(job.termsHash == 0, HasTerms(jobId));
            _expireClaimed(jobId, job, _collateral);
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

    /* ---- The game's calls ---- */

    /// @inheritdoc IClaimContract
    function pay(address account, uint256 amount) external onlyGame {
        _vault.give(account, amount);
    }

    /// @inheritdoc IClaimContract
    function refuted(
        ClaimKey calldata key,
        ClaimId claimId
    ) external onlyGame returns (uint256 collateral, uint256 bounty) {
        (collateral, bounty) = (key.collateral, _bounty);
        // INVARIANT: a claim dies once.
        _requireClaim(claimId, _statusOf(_jobs[key.jobId], claimId), ClaimStatus.Submitted);
        _reopen(key.jobId, JobStatus.Open);
        emit ClaimRefuted(key.jobId, claimId, key.worker, collateral);
        _vault.slash(key.worker, collateral, false);
    }

    /* ---- Calls of the extensions: the call ends there, and what follows only names its result ---- */

    /// @inheritdoc IMarketExtension
    function cancel(Job calldata) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function accept(Claim calldata) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function reclaim(Claim calldata) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function requireOutput(Claim calldata, uint256, Delivery calldata) external view {
        _runView(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function checkOutput(Claim calldata, uint256, Delivery calldata) external view {
        _runView(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function refundOf(Job calldata) external view returns (bool returned, uint256 amount) {
        _runView(address(_extension));
        return (returned, amount);
    }

    /// @inheritdoc IMarketExtension
    function deployment() external view returns (Deployment memory facts) {
        _runView(address(_extension));
        return facts;
    }

    /// @inheritdoc IMarketExtension
    function claimOnTerms(Job calldata, Terms calldata) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function submitOnTerms(Job calldata, Terms calldata, bytes calldata) external returns (ClaimId) {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function claimAndSubmit(Job calldata, Terms calldata, bytes calldata) external returns (ClaimId) {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function seal(Job calldata, Terms calldata, bytes32) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function openSeal(Job calldata, Terms calldata, address, bytes32, bytes calldata) external returns (ClaimId) {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function breakSeal(Job calldata, Terms calldata, address, bytes32) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function expireOnTerms(Job calldata, Terms calldata) external {
        _run(address(_extension));
    }

    /// @inheritdoc IMarketExtension
    function acceptEarly(Claim calldata, Terms calldata) external {
        _run(address(_extension));
    }

    /// @inheritdoc IProvenJobs
    function finaliseByProof(Claim calldata, Terms calldata, Proof calldata) external {
        _run(address(_proofs));
    }

    /// @inheritdoc IProvenJobs
    function claimAndProve(Job calldata, Terms calldata, bytes calldata, Proof calldata) external returns (ClaimId) {
        _run(address(_proofs));
    }

    /// @inheritdoc IProvenJobs
    function requireProven(Claim calldata, Terms calldata, bytes32, Delivery calldata) external view {
        _runView(address(_proofs));
    }

    /* ---- Views ---- */

    /// @inheritdoc IJobMarket
    function jobOf(
        JobId jobId
    ) external view returns (JobStatus status, address worker, uint256 until, uint256 missingParts) {
        JobRecord memory record = _jobs[jobId];
        status = record.status;
        if (status == JobStatus.Claimed) worker = address(bytes20(record.subject));
        if (status == JobStatus.AwaitingInput) missingParts = record.number;
        else if (status != JobStatus.Open) until = record.number;
    }

    /* ---- Helpers ---- */

    /// @inheritdoc ClaimContract
    function _stateOf(JobId jobId, ClaimId claimId) internal view override returns (ClaimStatus status, uint256 time) {
        JobRecord memory record = _jobs[jobId];
        status = _statusOf(record, claimId);
        if (status != ClaimStatus.None) time = record.number;
    }

    /// @dev Runs this call's data with an extension's code on this contract's storage, and ends the call with the same
    /// return or revert data.
    function _run(address code) private {
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, 0, calldatasize())
            let ok := delegatecall(gas(), code, data, calldatasize(), 0, 0)
            returndatacopy(data, 0, returndatasize())
            if iszero(ok) {
                revert(data, returndatasize())
            }
            return(data, returndatasize())
        }
    }

    /// @dev The same for a view. SAFETY: the extensions' functions with these names are views too.
    function _runView(address code) private view {
        function(address) view run;
        function(address) stateChanging = _run;
        assembly ("memory-safe") {
            run := stateChanging
        }
        run(code);
    }
}
