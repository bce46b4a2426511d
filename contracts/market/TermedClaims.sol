// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobStatus} from "../interfaces/IMarketEvents.sol";
import {ClaimId, DeviceId, JobId} from "../types/Ids.sol";
import {Job} from "../types/Job.sol";
import {Terms} from "../types/Terms.sol";
import {JobClaims} from "./JobClaims.sol";

/// @title How workers take and submit jobs with terms: code that MarketExtension and ProofExtension share.
abstract contract TermedClaims is JobClaims {
    /// @dev Bytes of all terms in a call.
    uint256 private constant TERMS_BYTES = 0x1a0;

    /// @dev As `claimOnTerms`.
    function _claimOnTerms(Job calldata job, Terms calldata terms) internal {
        JobId jobId = _termedJob(job, terms);
        JobRecord memory record = _jobs[jobId];
        _requireJob(jobId, record.status, JobStatus.Open);
        _requireFit(jobId, record.number, terms);
        if (terms.group != 0) {
            _takeFromGroup(job.requester, terms.group, bytes32(uint256(uint160(msg.sender))));
            // SAFETY: a device that goes from worker to worker takes one job of the group, whoever the device backs.
            _takeFromGroup(job.requester, terms.group, DeviceId.unwrap(_provisioning.deviceOf(msg.sender)));
        }
        _take(jobId, job, terms.collateral);
    }

    /// @dev As `submitOnTerms`.
    function _submitOnTerms(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes
    ) internal returns (ClaimId claimId) {
        JobId jobId = _termedJob(job, terms);
        require(terms.openFrom == 0, IsSealed(jobId));
        _requireWorker(jobId);
        return _submit(jobId, job, msg.sender, terms.collateral, nodes);
    }

    /// @dev Returns a job's id after checking the terms against the job.
    function _termedJob(Job calldata job, Terms calldata terms) internal view returns (JobId jobId) {
        jobId = _jobId(job);
        bytes32 given = _termsHash(terms);
        require(given == job.termsHash, WrongTerms(jobId, job.termsHash, given));
    }

    /// @dev `keccak256(abi.encode(terms))`.
    /// SAFETY: fields are hashed exactly as given in the call. No post has the hash of a field with excess bits.
    function _termsHash(Terms calldata terms) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            // Free memory, which is not taken.
            let start := mload(0x40)
            calldatacopy(start, terms, TERMS_BYTES)
            hash := keccak256(start, TERMS_BYTES)
        }
    }

    /// @dev Requires that the caller meets the terms' conditions for a worker.
    /// @param opened The block in which the job opened.
    function _requireFit(JobId jobId, uint256 opened, Terms calldata terms) private view {
        address reserved = terms.reservedFor;
        require(reserved == address(0) || reserved == msg.sender, ReservedForAnother(msg.sender, reserved));
        if (terms.spread != 0) {
            // If the block's hash is expired or was never available, every worker has waited long enough: a spread
            // never exceeds the time for which the chain keeps hashes. A block's own hash is unknown within the block.
            uint256 draw = uint256(keccak256(abi.encode(blockhash(opened), jobId, msg.sender)));
            uint256 first = opened + 1 + (((draw >> 8) * terms.spread) >> 248);
            require(block.number >= first, NotItsTurn(msg.sender, first));
        }
        (uint256 since, uint256 refuted_, uint256 late) = _vault.recordOf(msg.sender);
        bool isOld = terms.since == 0 || (since != 0 && since <= terms.since);
        require(isOld && refuted_ <= terms.maxRefuted && late <= terms.maxLate, RecordTooPoor(msg.sender));
        if (terms.manufacturer != 0) {
            DeviceId device = _provisioning.deviceOf(msg.sender);
            bytes32 manufacturer = _provisioning.deviceInfo(device).manufacturer;
            require(manufacturer == terms.manufacturer, OtherManufacturer(msg.sender, manufacturer));
        }
        if (address(terms.classes) != address(0)) {
            require(terms.classes.classHeld(msg.sender, terms.class), ClassNotHeld(msg.sender, terms.class));
        }
    }

    /// @dev Marks that somebody takes a job of a requester's group.
    /// @param taker The worker, or its device.
    function _takeFromGroup(address requester, bytes32 group, bytes32 taker) private {
        // SAFETY: the key includes the requester, so strangers' jobs exclude nobody.
        bytes32 key = keccak256(abi.encode(requester, group, taker));
        require(!_taken[key], GroupTaken(group, msg.sender));
        _taken[key] = true;
    }
}
