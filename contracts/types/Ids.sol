// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev Ids of 32 bytes, which the ABI has as `bytes32`. The compiler refuses the id of one thing for another's.

/// @notice The hash of a job's whole content, with its chain and contract (`JobIds.jobId`). A panel's id is its first
/// job's.
type JobId is bytes32;

/// @notice The hash of a claim's whole content (`JobIds.claimId`).
type ClaimId is bytes32;

/// @notice The hash of a game's claim, challenger and number (`States.gameId`).
type GameId is bytes32;

/// @notice The hash of a device's key, or of a platform and its verifier (`IProvisioning`).
type DeviceId is bytes32;

using {sameJob as ==} for JobId global;
using {sameClaim as ==} for ClaimId global;
using {sameDevice as ==} for DeviceId global;

function sameJob(JobId a, JobId b) pure returns (bool) {
    return JobId.unwrap(a) == JobId.unwrap(b);
}

function sameClaim(ClaimId a, ClaimId b) pure returns (bool) {
    return ClaimId.unwrap(a) == ClaimId.unwrap(b);
}

function sameDevice(DeviceId a, DeviceId b) pure returns (bool) {
    return DeviceId.unwrap(a) == DeviceId.unwrap(b);
}
