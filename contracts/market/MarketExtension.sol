// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deployment, JobStatus, ClaimStatus, Delivery} from "../interfaces/IMarketEvents.sol";
import {IMarketExtension} from "../interfaces/IMarketExtension.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, Job} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {SEMANTICS} from "../types/Semantics.sol";
import {JobRecords} from "./JobRecords.sol";
import {ProofExtension} from "./ProofExtension.sol";
import {TermedJobs} from "./TermedJobs.sol";

/// @title The market's calls that ordinary jobs do not need. See IMarketExtension.
/// @dev The market runs this code by delegatecalls to the address given at deployment. This contract itself holds
/// nothing, and no other contract knows it.
contract MarketExtension is TermedJobs {
    /// @notice What this extension was deployed with: its market must have the same.
    bytes32 public immutable extensionOf;
    /// @notice The code of the calls about proofs: too large for one contract with this code.
    ProofExtension public immutable proofs;
    address private immutable _self;

    /// @param vault_ The market's vault.
    /// @param game_ The market's game.
    /// @param p The market's parameters.
    constructor(IStakeVault vault_, IDisputeGame game_, Parameters memory p) JobRecords(vault_, game_, p) {
        extensionOf = keccak256(abi.encode(vault_, game_, p));
        proofs = new ProofExtension(vault_, game_, p);
        _self = address(this);
    }

    /* ---- Jobs that nobody serves ---- */

    /// @inheritdoc IMarketExtension
    function cancel(Job calldata job) external {
        JobId jobId = _jobId(job);
        JobRecord storage record = _jobs[jobId];
        require(msg.sender == job.requester, NotRequester(msg.sender, job.requester));
        require(
            record.status == JobStatus.Open || record.status == JobStatus.AwaitingInput,
            WrongJobStatus(jobId, record.status, JobStatus.Open)
        );
        record.status = JobStatus.Closed;
        _refund(jobId, job, 0);
    }

    /* ---- The fee of a final claim ---- */

    /// @inheritdoc IMarketExtension
    function accept(Claim calldata claim_) external {
        (JobId jobId, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        _requireClaim(claimId, status, ClaimStatus.Finalised);
        require(msg.sender == claim_.job.requester, NotRequester(msg.sender, claim_.job.requester));
        Deliveries storage done = _deliveries[claimId];
        require(_jobs[jobId].status != JobStatus.Complete && !done.paid, AlreadyPaid(claimId));
        done.paid = true;
        _release(jobId, claimId, claim_);
    }

    /// @inheritdoc IMarketExtension
    function reclaim(Claim calldata claim_) external {
        (JobId jobId, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        // SAFETY: if nothing needs delivery, the worker earns the fee as soon as the claim becomes final.
        require(claim_.job.deliverables != 0, NothingToDeliver(jobId));
        _requireClaim(claimId, status, ClaimStatus.Finalised);
        JobRecord storage record = _jobs[jobId];
        Deliveries storage done = _deliveries[claimId];
        require(record.status != JobStatus.Complete && !done.paid, AlreadyPaid(claimId));
        uint256 until = record.number + DELIVERY_SECONDS;
        require(block.timestamp > until, TimeNotUp(until));
        done.paid = true;
        record.number = RETURNED;
        emit FeeReturned(jobId, claimId, claim_.job.requester, claim_.job.fee);
        if (claim_.job.fee != 0) _vault.give(claim_.job.requester, claim_.job.fee);
    }

    /* ---- Views ---- */

    /// @inheritdoc IMarketExtension
    function requireOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) external view {
        (, ClaimId claimId, ClaimStatus status) = _claim(claim_);
        _requireClaim(claimId, status, ClaimStatus.Finalised);
        checkOutput(claim_, item, delivery);
    }

    /// @inheritdoc IMarketExtension
    function checkOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) public view {
        require(item < claim_.job.items, ItemsOutOfRange(item, claim_.job.items));
        _checkOutput(claim_, item, delivery);
    }

    /// @inheritdoc IMarketExtension
    function refundOf(Job calldata job) external view returns (bool returned, uint256 amount) {
        JobRecord memory record = _jobs[_jobId(job)];
        if (record.status == JobStatus.Closed) return (true, uint208(record.subject));
        bool isFinal = record.status == JobStatus.Finalised || record.status == JobStatus.Complete;
        return isFinal && record.number == RETURNED ? (true, job.fee) : (false, 0);
    }

    /// @inheritdoc IMarketExtension
    function deployment() external view returns (Deployment memory) {
        return
            Deployment({
                semantics: SEMANTICS,
                vault: _vault,
                game: _game,
                extension: _self,
                checker: _game.checker(),
                verifier: _game.checker().verifier(),
                provisioning: _provisioning,
                asset: _vault.asset(),
                bond: _game.bond(),
                parameters: _parameters()
            });
    }

    /// @dev What this deployment fixed.
    function _parameters() private view returns (Parameters memory) {
        return
            Parameters({
                baseWindow: _baseWindow,
                maxWindow: _maxWindow,
                baseClock: _baseClock,
                withdrawalDelay: _withdrawalDelay,
                rate: _rate,
                maxWork: _maxWork,
                arityBits: _arityBits,
                maxStepGas: _maxStepGas,
                maxStepBytes: _maxStepBytes,
                bondGas: _bondGas,
                priceCap: _priceCap,
                bounty: _bounty,
                collateral: _collateral,
                penaltyBps: _penaltyBps,
                sink: _sink
            });
    }
}
