// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Claim, Job} from "../types/Job.sol";
import {Delivery, Deployment, IMarketEvents} from "./IMarketEvents.sol";

/// @title The market's calls that ordinary jobs do not need. Their code is in a contract of its own, which the market
/// runs as its own code: they are called at the market's address.
interface IMarketExtension is IMarketEvents {
    /// @notice The requester releases the fee of a finalised claim without on-chain delivery.
    /// @dev Reverts with `WrongClaimStatus`, `NotRequester` or `AlreadyPaid`.
    /// @param claim_ The whole claim.
    function accept(Claim calldata claim_) external;

    /// @notice Returns the fee of a final claim to the requester, if not all deliverable outputs were delivered in the
    /// `DELIVERY_SECONDS` since it became final: of a wrong claim that nobody disputed nobody can deliver. What can be
    /// delivered can be afterwards, without a fee. Anyone may call.
    /// @dev Reverts with `NothingToDeliver`, `WrongClaimStatus`, `TimeNotUp` or `AlreadyPaid`.
    /// @param claim_ The whole claim.
    function reclaim(Claim calldata claim_) external;

    /// @notice The requester takes back a job that nobody has claimed.
    /// @dev Reverts with `NotRequester` or `WrongJobStatus`.
    /// @param job The whole job.
    function cancel(Job calldata job) external;

    /// @notice Whether a job's fee went back to its requester, and how much: less than the fee if others were paid
    /// for closing the job.
    /// @param job The whole job.
    /// @return returned Whether the job was closed, or its fee reclaimed.
    /// @return amount Smallest units of the stake asset; 0 if nothing was returned.
    function refundOf(Job calldata job) external view returns (bool returned, uint256 amount);

    /// @notice Requires that an output of an item is part of a final claim. For dapps that read single results of a
    /// run: nothing is stored.
    /// @dev Reverts with `WrongClaimStatus`, `ItemsOutOfRange`, `WrongProgram`, `NotAnOutputOfItem`,
    /// `WrongOutputLength` or `OutputNotInClaim`.
    /// @param claim_ The whole claim.
    /// @param item Number of the item, from 0.
    /// @param delivery The output, and its opening.
    function requireOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) external view;

    /// @notice What this deployment is: its semantics, contracts and parameters, in one call.
    /// @return All of it.
    function deployment() external view returns (Deployment memory);
}
