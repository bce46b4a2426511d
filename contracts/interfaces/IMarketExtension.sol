// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId} from "../types/Ids.sol";
import {Claim, Job} from "../types/Job.sol";
import {Terms} from "../types/Terms.sol";
import {Delivery, Deployment, IMarketEvents} from "./IMarketEvents.sol";

/// @title The market's calls that ordinary jobs do not need. Their code lives in a separate contract, which the market
/// runs as its own code: callers use the market's address.
interface IMarketExtension is IMarketEvents {
    /// @notice The requester releases the fee of a finalised claim without on-chain delivery.
    /// @dev Reverts with `WrongClaimStatus`, `NotRequester` or `AlreadyPaid`.
    /// @param claim_ The whole claim.
    function accept(Claim calldata claim_) external;

    /// @notice Returns a final claim's fee to the requester, if some deliverable outputs were not delivered within
    /// `DELIVERY_SECONDS` after the claim became final: nobody can deliver the outputs of an undisputed wrong claim.
    /// Deliverable outputs can still be delivered afterwards, without a fee. Anyone may call.
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

    /// @notice Requires that an output of an item belongs to a final claim. For dapps that read single results of a
    /// run: nothing is stored.
    /// @dev Reverts with `WrongClaimStatus`, `ItemsOutOfRange`, `WrongProgram`, `NotAnOutputOfItem`,
    /// `WrongOutputLength` or `OutputNotInClaim`.
    /// @param claim_ The whole claim.
    /// @param item Number of the item, from 0.
    /// @param delivery The output, and its opening.
    function requireOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) external view;

    /// @notice Requires that an output of an item belongs to a claim with any status. For contracts that judge the
    /// claim's validity themselves.
    /// @dev Reverts as `requireOutput`, without `WrongClaimStatus`.
    /// @param claim_ The whole claim; worker and collateral do not matter.
    /// @param item Number of the item, from 0.
    /// @param delivery The output, and its opening.
    function checkOutput(Claim calldata claim_, uint256 item, Delivery calldata delivery) external view;

    /// @notice What this deployment is: its semantics, contracts and parameters, in one call.
    /// @return All of it.
    function deployment() external view returns (Deployment memory);

    /// @notice Takes an open job with terms: locks the terms' collateral. The caller must fulfil all terms, and submit
    /// or seal within `claimSeconds`.
    /// @dev Reverts as `claim`, and with `WrongTerms`, `ReservedForAnother`, `GroupTaken`, `NotItsTurn`,
    /// `RecordTooPoor`, `OtherManufacturer` or `ClassNotHeld`.
    /// @param job The whole job.
    /// @param terms The job's terms.
    function claimOnTerms(Job calldata job, Terms calldata terms) external;

    /// @notice Like `submit`, for an unsealed job with terms.
    /// @dev Reverts as `submit`, and with `WrongTerms` or `IsSealed`.
    /// @param job The whole job.
    /// @param terms The job's terms.
    /// @param nodes As in `submit`.
    /// @return claimId The claim's id.
    function submitOnTerms(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes
    ) external returns (ClaimId claimId);

    /// @notice Claims and submits a job in one call, if the job is reserved for the caller. For any other job, others
    /// could copy the submission from the pool.
    /// @dev Reverts as `claimOnTerms` and `submitOnTerms` do.
    /// @param job The whole job.
    /// @param terms The job's terms.
    /// @param nodes As in `submit`.
    /// @return claimId The claim's id.
    function claimAndSubmit(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes
    ) external returns (ClaimId claimId);

    /// @notice Commits the worker of a sealed job to a root that nobody sees yet.
    /// @dev Reverts with `WrongTerms`, `NotSealed`, `WrongJobStatus`, `NotWorker` or `TimeIsUp`.
    /// @param job The whole job.
    /// @param terms The job's terms.
    /// @param seal_ `keccak256(abi.encode(jobId, worker, root, salt))` with a salt of 32 random bytes.
    function seal(Job calldata job, Terms calldata terms, bytes32 seal_) external;

    /// @notice Opens a sealed submission: it becomes a claim, and its window starts. Anyone who knows the salt may
    /// call, from `openFrom` for `baseClock` seconds.
    /// @dev Reverts with `WrongTerms`, `NotSealed`, `WrongJobStatus`, `TimeNotUp`, `TimeIsUp` or `WrongSeal`, and as
    /// `submit` for the nodes.
    /// @param job The whole job.
    /// @param terms The job's terms.
    /// @param worker Who sealed.
    /// @param salt The seal's salt.
    /// @param nodes As in `submit`.
    /// @return claimId The claim's id.
    function openSeal(
        Job calldata job,
        Terms calldata terms,
        address worker,
        bytes32 salt,
        bytes calldata nodes
    ) external returns (ClaimId claimId);

    /// @notice Ends a job whose seal was not opened in time: the worker loses its whole collateral, the requester gets
    /// the fee back. Anyone may call and is paid as for `expire` (not the worker).
    /// @dev Reverts with `WrongTerms`, `NotSealed`, `WrongJobStatus`, `TimeNotUp` or `WrongSeal`.
    /// @param job The whole job.
    /// @param terms The job's terms.
    /// @param worker The worker who sealed.
    /// @param seal_ The seal, from `ClaimSealed`.
    function breakSeal(Job calldata job, Terms calldata terms, address worker, bytes32 seal_) external;

    /// @notice Like `expire`, for a claimed job with terms.
    /// @dev Reverts with `WrongTerms`, `WrongJobStatus` or `TimeNotUp`.
    /// @param job The whole job.
    /// @param terms The job's terms.
    function expireOnTerms(Job calldata job, Terms calldata terms) external;

    /// @notice The requester takes a claim before its window ends: the fee is paid, the collateral is free, and the
    /// claim never becomes final. Only if the terms allow early acceptance, and while no game is open.
    /// @dev Reverts with `WrongTerms`, `NoEarlyAccept`, `NotRequester`, `WrongClaimStatus` or `GamesOpen`.
    /// @param claim_ The whole claim.
    /// @param terms The job's terms.
    function acceptEarly(Claim calldata claim_, Terms calldata terms) external;
}
