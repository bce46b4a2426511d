// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, ClaimKey, Job} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {IClaimContract} from "./IClaimContract.sol";
import {IMarketExtension} from "./IMarketExtension.sol";
import {IProvenJobs} from "./IProvenJobs.sol";
import {ClaimStatus, Delivery, InputPart, JobRequest, JobStatus} from "./IMarketEvents.sol";

/// @title The market for jobs: post, claim, submit, finalise, deliver.
/// @dev The hash of their content identifies jobs and claims, and calls include this content: the subject of a call
/// cannot change before execution.
interface IJobMarket is IMarketExtension, IProvenJobs, IClaimContract {
    /// @notice Posts a job; the vault takes the fee from the caller's credit. Given bytes are checked against their
    /// roots and emitted (`InputPublished`), which lets everybody compute. The job opens when all bytes are published,
    /// or at once if `rootOnly`.
    /// @dev Reverts with `JobExists`, with the error for any term out of range, with `WrongInputCount`,
    /// `WrongInputLength`, `WrongInputRoot` or `RootOnlyWithBytes`, and with the vault's `InsufficientCredit`.
    /// @param request The request.
    /// @return jobId The job's id.
    function post(JobRequest calldata request) external returns (JobId jobId);

    /// @notice Publishes one part of an input not posted with the job. Anyone may call.
    /// @dev Reverts with `WrongJobStatus`, `WrongProgram`, `NoSuchPart`, `WrongInputRoot`, `WrongInputLength` or
    /// `PartAlreadyPublished`.
    /// @param job The whole job.
    /// @param program The job's program.
    /// @param part The part, and its openings.
    function publishInput(Job calldata job, ProgramFacts calldata program, InputPart calldata part) external;

    /// @notice Takes an open job: locks the collateral. The caller needs a live attestation and must submit within
    /// `claimSeconds`.
    /// @dev Reverts with `WrongJobStatus`, `DeadlineTooSoon`, `NotLive`, or the vault's `InsufficientFreeStake`.
    /// @param job The whole job.
    function claim(Job calldata job) external;

    /// @notice Submits the list of the items' trace roots (for one item: the item's trace). The list is given by the
    /// nodes that a reveal at the list's root would show (the root itself for a single leaf): a game opens below them.
    /// If the job asks for an answer: submits all the outputs' roots. Games may be opened from now until the window
    /// ends.
    /// @dev Reverts with `WrongJobStatus`, `NotWorker`, `TimeIsUp`, `ZeroClaimRoot`, `ClaimExists` for a refuted claim,
    /// and the game's `WrongDataLength` or `PaddingNotZero`.
    /// @param job The whole job.
    /// @param nodes `2^hop` nodes of 32 bytes, `hop` levels below the root, zero subtrees past the width. For an
    /// answer, the leaves.
    /// @return claimId The claim's id.
    function submit(Job calldata job, bytes calldata nodes) external returns (ClaimId claimId);

    /// @notice Delivers an output of a final claim. A claim that can be finalised becomes final in the same call.
    /// Anyone may call. The last deliverable output releases the fee. If the job's callback fails, the delivery stands,
    /// and the call may be repeated until the callback succeeds.
    /// @dev Reverts with `NotDeliverable`, `WrongClaimStatus`, `AlreadyDelivered`, `WrongProgram`, `WrongOutputLength`,
    /// `OutputNotInClaim` or `TooLittleGas`, and as `finalise` does for a claim in its window.
    /// @param claim_ The whole claim.
    /// @param delivery The output, and its opening.
    function deliver(Claim calldata claim_, Delivery calldata delivery) external;

    /// @notice Frees a job whose worker missed the deadline (the worker loses the penalty), and closes a job whose
    /// deadline leaves no time for another claim. Anyone may call and is paid the price of the call: from the penalty,
    /// or from the fee if nobody had claimed the job (the worker or requester itself is not paid).
    /// @dev Reverts with `TimeNotUp` or `WrongJobStatus`.
    /// @param job The whole job.
    function expire(Job calldata job) external;

    /// @notice The stored state of a job.
    /// @param jobId The job.
    /// @return status The job's status; `None` if never posted.
    /// @return worker The worker of a claimed job, else zero.
    /// @return until The worker's deadline for submitting; the end of the window; or since when the claim is final, 0
    /// if the fee was reclaimed (unix time).
    /// @return missingParts Number of input parts that are still missing.
    function jobOf(
        JobId jobId
    ) external view returns (JobStatus status, address worker, uint256 until, uint256 missingParts);

    /// @notice The stored state of a claim.
    /// @param key The claim.
    /// @return status The claim's status.
    /// @return time End of the window; for a final claim, since when the claim is final, 0 if the fee was reclaimed
    /// (unix).
    /// @return delivered Bit i: output i was delivered. 0 for a job that one call completed.
    /// @return calledBack Bit i: the requester took output i. 0 for a job that one call completed.
    /// @return paid Whether the fee is released.
    function claimOf(
        ClaimKey calldata key
    ) external view returns (ClaimStatus status, uint256 time, uint256 delivered, uint256 calledBack, bool paid);
}
