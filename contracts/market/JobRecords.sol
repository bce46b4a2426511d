// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Deployment, IJobMarket, JobStatus, ClaimStatus} from "../interfaces/IJobMarket.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IProvisioning} from "../interfaces/IProvisioning.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {Job, Claim, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {ProgramFacts} from "../types/Program.sol";
import {SEMANTICS} from "../types/Semantics.sol";
import {MarketParameters} from "./MarketParameters.sol";

/// @title What the market keeps of jobs, and the vault and the game that it works with.
abstract contract JobRecords is MarketParameters {
    using ProgramProofs for ProgramFacts;

    /// @dev What the contract keeps of a job: one word, of which its claim is a part.
    /// number: the parts of the input still missing (AwaitingInput), until when the worker may submit (Claimed), the
    /// end of the window (Submitted), when the claim became final (Finalised, Complete) or `RETURNED` if its fee was
    /// reclaimed.
    /// subject: the worker's address (Claimed), the first 26 bytes of the claim's id (Submitted, Finalised, Complete;
    /// collisions of 208 bits are out of reach), what the requester got back of the fee (Closed).
    struct JobRecord {
        JobStatus status;
        uint40 number;
        bytes26 subject;
    }

    /// @dev In `number` of a final claim's job: the requester has the fee back.
    uint40 internal constant RETURNED = 0;

    IStakeVault internal immutable _vault;
    IDisputeGame internal immutable _game;
    IProvisioning internal immutable _provisioning;

    mapping(bytes32 jobId => JobRecord) internal _jobs;

    /// @dev Vault and game were deployed before and name this address, so that the three know each other for good and
    /// nobody else has a say.
    constructor(IStakeVault vault_, IDisputeGame game_, Parameters memory p) MarketParameters(p) {
        require(vault_.market() == address(this), NotItsMarket(address(vault_), vault_.market()));
        require(address(game_.market()) == address(this), NotItsMarket(address(game_), address(game_.market())));
        require(vault_.withdrawalDelay() == p.withdrawalDelay, OtherParameters(address(vault_)));
        require(game_.parametersHash() == keccak256(abi.encode(p)), OtherParameters(address(game_)));
        _vault = vault_;
        _game = game_;
        _provisioning = vault_.provisioning();
    }

    /* ---- Views ---- */

    /// @inheritdoc IJobMarket
    function jobOf(
        bytes32 jobId
    ) external view returns (JobStatus status, address worker, uint256 until, uint256 missingParts) {
        JobRecord memory record = _jobs[jobId];
        status = record.status;
        if (status == JobStatus.Claimed) worker = address(bytes20(record.subject));
        if (status == JobStatus.AwaitingInput) missingParts = record.number;
        else until = record.number;
    }

    /// @inheritdoc IJobMarket
    function deployment() external view returns (Deployment memory) {
        return
            Deployment({
                semantics: SEMANTICS,
                vault: _vault,
                game: _game,
                checker: _game.checker(),
                verifier: _game.checker().verifier(),
                provisioning: _provisioning,
                asset: _vault.asset(),
                bond: _game.bond(),
                parameters: _parameters()
            });
    }

    /// @inheritdoc IJobMarket
    function refundOf(Job calldata job) external view returns (bool returned, uint256 amount) {
        JobRecord memory record = _jobs[jobIdOf(job)];
        if (record.status == JobStatus.Closed) return (true, uint208(record.subject));
        bool isFinal = record.status == JobStatus.Finalised || record.status == JobStatus.Complete;
        return isFinal && record.number == RETURNED ? (true, job.fee) : (false, 0);
    }

    /// @inheritdoc IJobMarket
    function vault() external view returns (IStakeVault) {
        return _vault;
    }

    /// @inheritdoc IJobMarket
    function game() external view returns (IDisputeGame) {
        return _game;
    }

    /// @inheritdoc IJobMarket
    function jobIdOf(Job calldata job) public view returns (bytes32) {
        return JobIds.jobId(job, address(this));
    }

    /* ---- Helpers ---- */

    /// @dev Takes a job away from its worker.
    function _reopen(bytes32 jobId, JobStatus next) internal {
        _jobs[jobId] = JobRecord(next, 0, 0);
        if (next == JobStatus.Open) emit JobOpened(jobId);
    }

    /// @dev The ids of a claim and its job, and its status.
    function _claim(Claim calldata claim_) internal view returns (bytes32 jobId, bytes32 claimId, ClaimStatus status) {
        jobId = jobIdOf(claim_.job);
        claimId = JobIds.claimId(jobId, claim_.worker, claim_.root);
        status = _statusOf(_jobs[jobId], claimId);
    }

    /// @dev What a job's record says of a claim: of a refuted one, nothing.
    function _statusOf(JobRecord memory record, bytes32 claimId) internal pure returns (ClaimStatus) {
        if (record.status < JobStatus.Submitted || record.status == JobStatus.Closed) return ClaimStatus.None;
        if (record.subject != bytes26(claimId)) return ClaimStatus.None;
        return record.status == JobStatus.Submitted ? ClaimStatus.Submitted : ClaimStatus.Finalised;
    }

    /// @dev Whether a claim taken now would be due by the deadline.
    function _hasTime(Job calldata job) internal view returns (bool) {
        return block.timestamp + job.claimSeconds <= job.deadline;
    }

    /// @dev Requires that a program has the expected root.
    function _needProgram(ProgramFacts calldata program, bytes32 expected) internal view {
        bytes32 given = program.root();
        require(given == expected, WrongProgram(expected, given));
    }

    /// @dev Requires a status of a job.
    function _needJob(bytes32 jobId, JobStatus actual, JobStatus needed) internal pure {
        require(actual == needed, WrongJobStatus(jobId, actual, needed));
    }

    /// @dev Requires a status of a claim.
    function _needClaim(bytes32 claimId, ClaimStatus actual, ClaimStatus needed) internal pure {
        require(actual == needed, WrongClaimStatus(claimId, actual, needed));
    }
}
