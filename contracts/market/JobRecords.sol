// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobStatus, ClaimStatus} from "../interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IProvisioning} from "../interfaces/IProvisioning.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Job, Claim, JobIds} from "../types/Job.sol";
import {Parameters} from "../types/Parameters.sol";
import {ProgramFacts} from "../types/Program.sol";
import {ClaimGuards} from "./ClaimGuards.sol";
import {MarketParameters} from "./MarketParameters.sol";

/// @title The market's job records, and the vault and the game that the market works with.
/// @dev SAFETY: the market and its extensions have the same storage: all shared state is declared here.
abstract contract JobRecords is MarketParameters, ClaimGuards {
    using ProgramProofs for ProgramFacts;

    /// @dev The contract's record for a job, including the claim, in one word. number: the parts of the input still
    /// missing (AwaitingInput), the block in which the job opened (Open), until when the worker may submit (Claimed),
    /// the end of the window (Submitted), the time of sealing (Sealed), acceptance (Accepted) or proof (Proven), when
    /// the claim became final (Finalised, Complete) or `RETURNED` if the fee was reclaimed. subject: the worker's
    /// address (Claimed), the first 26 bytes of the claim's id (Submitted, Finalised, Complete, Accepted, Proven;
    /// collisions of 208 bits are out of reach) or from a hash over worker and seal (Sealed), the requester's refund
    /// (Closed).
    struct JobRecord {
        JobStatus status;
        uint40 number;
        bytes26 subject;
    }

    /// @dev A claim's delivered outputs, unless one call delivered everything.
    /// @param delivered Bit i: output i was delivered.
    /// @param calledBack Bit i: the requester took output i.
    /// @param paid The fee is released.
    struct Deliveries {
        uint64 delivered;
        uint64 calledBack;
        bool paid;
    }

    /// @dev In `number` of a final claim's job: the requester has the fee back.
    uint40 internal constant RETURNED = 0;

    IProvisioning internal immutable _provisioning;

    mapping(JobId jobId => JobRecord) internal _jobs;
    mapping(ClaimId claimId => Deliveries) internal _deliveries;
    /// @dev Keyed by the hash of requester, group and worker or device: whether either has taken a job from the group.
    mapping(bytes32 key => bool) internal _taken;

    constructor(
        IStakeVault vault_,
        IDisputeGame game_,
        Parameters memory p
    ) MarketParameters(p) ClaimGuards(vault_, game_) {
        _provisioning = vault_.provisioning();
    }

    /* ---- Helpers ---- */

    /// @dev Returns a job's id on this market. The extension runs as the market's code, and therefore has the market's
    /// address.
    function _jobId(Job calldata job) internal view returns (JobId) {
        return JobIds.jobId(job, address(this));
    }

    /// @dev Writes a record at once. Assigned as a struct, its word would be read and written for each field.
    function _write(JobRecord storage record, JobStatus status, uint40 number, bytes26 subject) internal {
        // From the lowest bit up, as the compiler packs: status 8, number 40, subject 208.
        uint256 word = uint256(bytes32(subject)) | (uint256(number) << 8) | uint256(status);
        assembly ("memory-safe") {
            sstore(record.slot, word)
        }
    }

    /// @dev Takes a job away from its worker.
    function _reopen(JobId jobId, JobStatus next) internal {
        bool open = next == JobStatus.Open;
        _write(_jobs[jobId], next, open ? uint40(block.number) : 0, 0);
        if (open) emit JobOpened(jobId);
    }

    /// @dev Returns the ids of a claim and its job, and the claim's status.
    function _claim(Claim calldata claim_) internal view returns (JobId jobId, ClaimId claimId, ClaimStatus status) {
        jobId = _jobId(claim_.job);
        claimId = JobIds.claimId(jobId, claim_.worker, claim_.root, claim_.collateral);
        status = _statusOf(_jobs[jobId], claimId);
    }

    /// @dev Returns a claim's status according to its job's record: `None` for a refuted claim.
    function _statusOf(JobRecord memory record, ClaimId claimId) internal pure returns (ClaimStatus) {
        if (record.status < JobStatus.Submitted || record.status == JobStatus.Closed) return ClaimStatus.None;
        // SAFETY: a sealed submission counts as no claim yet, whatever the hash.
        if (record.status == JobStatus.Sealed) return ClaimStatus.None;
        if (record.subject != _subjectOf(claimId)) return ClaimStatus.None;
        if (record.status == JobStatus.Submitted) return ClaimStatus.Submitted;
        if (record.status == JobStatus.Accepted) return ClaimStatus.Accepted;
        return record.status == JobStatus.Proven ? ClaimStatus.Proven : ClaimStatus.Finalised;
    }

    /// @dev Returns the part of a claim's id that a job's record holds.
    function _subjectOf(ClaimId claimId) internal pure returns (bytes26) {
        return bytes26(ClaimId.unwrap(claimId));
    }

    /// @dev Whether a claim taken now would be due by the deadline.
    function _hasTime(Job calldata job) internal view returns (bool) {
        return block.timestamp + job.claimSeconds <= job.deadline;
    }

    /// @dev Requires that a program has the expected root.
    function _requireProgram(ProgramFacts calldata program, bytes32 expected) internal view {
        bytes32 given = program.root();
        require(given == expected, WrongProgram(expected, given));
    }

    /// @dev Requires a status of a job.
    function _requireJob(JobId jobId, JobStatus actual, JobStatus needed) internal pure {
        require(actual == needed, WrongJobStatus(jobId, actual, needed));
    }

    /// @dev Returns the fee of a closed job.
    /// @param reward The part of the fee for the caller who closed the job.
    function _refund(JobId jobId, Job calldata job, uint256 reward) internal {
        uint256 amount = job.fee - reward;
        _jobs[jobId].subject = bytes26(uint208(amount));
        emit JobClosed(jobId, amount);
        if (reward != 0) _vault.give(msg.sender, reward);
        if (amount != 0) _vault.give(job.requester, amount);
    }
}
