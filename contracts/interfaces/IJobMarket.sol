// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Job, Claim, ClaimKey} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {Parameters} from "../types/Parameters.sol";
import {IDisputeGame} from "./IDisputeGame.sol";
import {IProofChecker} from "./IProofChecker.sol";
import {IProvisioning} from "./IProvisioning.sol";
import {IStakeVault} from "./IStakeVault.sol";
import {IStepVerifier} from "./IStepVerifier.sol";

/// @notice AwaitingInput: input bytes are missing. Open: may be claimed. Claimed: a worker computes. Submitted: a claim
/// is in its window or in dispute. Finalised: the claim stands, something is still to be delivered. Closed: cancelled
/// or expired, the fee returned. Complete: finalised, and all done.
enum JobStatus {
    None,
    AwaitingInput,
    Open,
    Claimed,
    Submitted,
    Finalised,
    Closed,
    Complete
}

enum ClaimStatus {
    None,
    Submitted,
    Finalised,
    Refuted
}

/// @notice What a requester asks for. See `Job` for the terms.
/// @param program The program's header and roots: the market derives `programRoot`, `work` and the outputs from them.
/// @param inputRoots Of each input its tensor root; if each item has its own, the root of the list of their tensor
/// roots; zero for the index.
/// @param inputs The bytes of each input; if each item has its own, of all items in order; none for the index, nor
/// for state that is carried and begins with zeros. An empty entry: published in parts later. An empty array: none with
/// the post.
/// @param items How often the program is executed, 1 to 65,536.
/// @param firstItem What an input that is the index reads in the first item.
/// @param answer Whether a claim consists of the outputs' roots. Else it consists of the roots of the items' traces.
struct JobRequest {
    ProgramFacts program;
    bytes32[] inputRoots;
    bytes[] inputs;
    uint32 items;
    uint32 firstItem;
    uint128 fee;
    uint32 window;
    uint32 claimSeconds;
    uint64 deadline;
    uint32 callbackGas;
    uint32 maxOutputBytes;
    bool rootOnly;
    bool answer;
    bytes32 salt;
}

/// @notice One part of one tensor of an input: `PART_BYTES` bytes of it (the last part: what is left).
/// @param input Number of the input.
/// @param part Number of the part: its number in its tensor; if each item has its own tensor, plus the item times the
/// parts of a tensor.
/// @param data Its bytes.
/// @param siblings Opening of the part's subtree under the tensor root.
/// @param inputRoot The tensor root.
/// @param inputSiblings Opening of `inputRoot` under the job's inputs root; if each item has its own, first its path in
/// the list of these.
struct InputPart {
    uint32 input;
    uint32 part;
    bytes data;
    bytes32[] siblings;
    bytes32 inputRoot;
    bytes32[] inputSiblings;
}

/// @notice One output of a finalised claim.
/// @param program The job's program.
/// @param output Number of the output.
/// @param data Its bytes.
/// @param siblings Opening of its tensor root under the item's trace root, at the checkpoint that the header names, and
/// then of that trace root under the run root. In an answer: if each item has the output, of its tensor root in the
/// list of these; then of the output's root in the answer.
struct Delivery {
    ProgramFacts program;
    uint32 output;
    bytes data;
    bytes32[] siblings;
}

/// @notice What a deployment is, for good.
/// @param semantics Version of the semantics that its programs follow (docs/program.md).
/// @param vault Holds all money.
/// @param game Where claims are disputed.
/// @param checker Checks step proofs for the game.
/// @param verifier Recomputes elements for the checker.
/// @param provisioning Says who may stake.
/// @param asset The stake asset: the chain's wrapped native token.
/// @param bond What a challenger needs as credit to open a game, in smallest units of the asset.
/// @param parameters What was chosen for this deployment.
struct Deployment {
    uint256 semantics;
    IStakeVault vault;
    IDisputeGame game;
    IProofChecker checker;
    IStepVerifier verifier;
    IProvisioning provisioning;
    IERC20 asset;
    uint256 bond;
    Parameters parameters;
}

/// @title The market for jobs: post, claim, submit, finalise, deliver.
/// @dev Jobs and claims are named by the hash of their content, and calls bring that content: what a call is about
/// cannot change under it.
interface IJobMarket {
    error NotGame(address caller);
    error NotRequester(address caller, address requester);
    error NotWorker(address caller, address worker);
    error WrongJobStatus(bytes32 jobId, JobStatus actual, JobStatus needed);
    error WrongClaimStatus(bytes32 claimId, ClaimStatus actual, ClaimStatus needed);
    error JobExists(bytes32 jobId);
    error ClaimExists(bytes32 claimId);
    error WrongProgram(bytes32 expected, bytes32 given);
    error ItemsOutOfRange(uint256 given, uint256 limit);
    error TooMuchWork(uint256 work, uint256 maxWork);
    error StepProofTooLarge(uint32 maxStepGas, uint32 limit);
    error StepProofTooLong(uint32 maxStepBytes, uint32 limit);
    error HeaderTooLong(uint256 bytes_, uint256 limit);
    error TooManyOutputs(uint256 outputs, uint256 limit);
    error TooManyAnswers(uint256 outputs, uint256 limit);
    error AnswerOfCarriedItems(uint256 output);
    error WindowOutOfRange(uint32 window, uint256 least, uint256 most);
    error DeadlineTooSoon(uint64 deadline, uint256 earliest);
    error DeadlineTooFar(uint64 deadline, uint256 latest);
    error ZeroClaimSeconds();
    error CallbackGasTooHigh(uint32 given, uint256 limit);
    error OutputLimitTooHigh(uint32 given, uint256 limit);
    error WrongInputCount(uint256 given, uint256 expected);
    error WrongInputLength(uint256 input, uint256 given, uint256 expected);
    error WrongInputRoot(uint256 input, bytes32 given, bytes32 actual);
    error RootOnlyWithBytes();
    error TooManyParts(uint256 input, uint256 parts);
    error NoSuchPart(uint256 input, uint256 part);
    error PartAlreadyPublished(uint256 input, uint256 part);
    error NotLive(address worker);
    error TimeIsUp(uint256 until);
    error TimeNotUp(uint256 until);
    error ZeroClaimRoot();
    error WindowClosed(bytes32 claimId, uint256 windowEnd);
    error WindowOpen(bytes32 claimId, uint256 windowEnd);
    error GamesOpen(bytes32 claimId, uint256 games);
    error AlreadyPaid(bytes32 claimId);
    error NotDeliverable(uint256 output);
    error AlreadyDelivered(bytes32 claimId, uint256 output);
    error WrongOutputLength(uint256 output, uint256 given, uint256 expected);
    error NotAnOutputOfItem(uint256 output, uint256 item);
    error OutputNotInClaim(uint256 output);
    error TooLittleGas(uint256 available, uint256 needed);
    error NothingToDeliver(bytes32 jobId);
    error NotItsMarket(address account, address market);
    error OtherParameters(address account);

    event JobPosted(
        bytes32 indexed jobId,
        address indexed requester,
        bytes32 indexed programRoot,
        Job job,
        ProgramFacts program,
        bytes32[] inputRoots
    );
    event InputPublished(bytes32 indexed jobId, uint256 indexed input, uint256 part, bytes data);
    event JobOpened(bytes32 indexed jobId);
    event JobClaimed(bytes32 indexed jobId, address indexed worker, uint256 until);
    event JobExpired(bytes32 indexed jobId, address indexed worker, uint256 penalty);
    event JobClosed(bytes32 indexed jobId, uint256 refund);
    event ClaimSubmitted(
        bytes32 indexed jobId,
        bytes32 indexed claimId,
        address indexed worker,
        bytes32 root,
        uint256 windowEnd,
        bytes nodes
    );
    event ClaimFinalised(bytes32 indexed jobId, bytes32 indexed claimId);
    event ClaimRefuted(bytes32 indexed jobId, bytes32 indexed claimId, address indexed worker, uint256 collateral);
    event OutputDelivered(bytes32 indexed jobId, bytes32 indexed claimId, uint256 indexed output, bytes data);
    event CallbackMade(bytes32 indexed jobId, uint256 indexed output);
    event CallbackFailed(bytes32 indexed jobId, uint256 indexed output);
    event FeeReleased(bytes32 indexed jobId, bytes32 indexed claimId, address indexed worker, uint256 fee);
    event FeeReturned(bytes32 indexed jobId, bytes32 indexed claimId, address indexed requester, uint256 fee);

    /// @notice Posts a job; the fee is taken from the caller's credit in the vault. Bytes given are checked against
    /// their roots and emitted (`InputPublished`), so that everybody can compute. The job opens when all bytes are
    /// published, or at once if `rootOnly`.
    /// @dev Reverts with `JobExists`, with the error of the term that is out of its range, with `WrongInputCount`,
    /// `WrongInputLength`, `WrongInputRoot` or `RootOnlyWithBytes`, and with the vault's `InsufficientCredit`.
    /// @param request What is asked for.
    /// @return jobId The job's id.
    function post(JobRequest calldata request) external returns (bytes32 jobId);

    /// @notice Publishes one part of an input that was not posted with the job. Anyone may call.
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

    /// @notice Submits the list of the items' trace roots (of one item: its trace), by the nodes that a reveal at its
    /// root would show (the root itself, if it has one leaf): a game opens below them. If the job asks for an answer:
    /// submits the list of the outputs' roots, by all of them. Games may be opened from now until the window ends.
    /// @dev Reverts with `WrongJobStatus`, `NotWorker`, `TimeIsUp`, `ZeroClaimRoot`, `ClaimExists` for a claim that was
    /// refuted, and the game's `WrongDataLength` or `PaddingNotZero`.
    /// @param job The whole job.
    /// @param nodes `2^hop` nodes of 32 bytes, `hop` levels below the root, zero subtrees past the width. Of an answer,
    /// its leaves.
    /// @return claimId The claim's id.
    function submit(Job calldata job, bytes calldata nodes) external returns (bytes32 claimId);

    /// @notice Ends a claim whose window is over and which no open game disputes. Anyone may call. Calls nobody's code.
    /// @dev Reverts with `WrongClaimStatus`, `WindowOpen` or `GamesOpen`.
    /// @param claim_ The whole claim.
    function finalise(Claim calldata claim_) external;

    /// @notice Delivers an output of a claim that is finalised, or can be: then it is, in the same call. Anyone may
    /// call. The fee is released with the last deliverable output. If the job wants a callback that fails, the delivery
    /// stands and the call may be repeated until the callback succeeds.
    /// @dev Reverts with `NotDeliverable`, `WrongClaimStatus`, `AlreadyDelivered`, `WrongProgram`, `WrongOutputLength`,
    /// `OutputNotInClaim` or `TooLittleGas`, and as `finalise` does for a claim in its window.
    /// @param claim_ The whole claim.
    /// @param delivery The output, and its opening.
    function deliver(Claim calldata claim_, Delivery calldata delivery) external;

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

    /// @notice Frees a job whose worker missed its time (it loses the penalty), and closes a job whose deadline leaves
    /// no time for another claim. Anyone may call, and is paid the price of the call: from the penalty, or from the fee
    /// if nobody had claimed the job (not the worker or requester itself).
    /// @dev Reverts with `TimeNotUp` or `WrongJobStatus`.
    /// @param job The whole job.
    function expire(Job calldata job) external;

    /// @notice The requester takes back a job that nobody has claimed.
    /// @dev Reverts with `NotRequester` or `WrongJobStatus`.
    /// @param job The whole job.
    function cancel(Job calldata job) external;

    /// @notice Game only: checks that a claim is in its window and takes the challenger's bond.
    /// @dev Reverts with `NotGame`, `WrongClaimStatus`, `WindowClosed`, or the vault's `InsufficientCredit`.
    /// @param jobId The claim's job.
    /// @param claimId The claim.
    /// @param challenger Who opens the game.
    /// @param bond Smallest units of the stake asset.
    function gameOpened(bytes32 jobId, bytes32 claimId, address challenger, uint256 bond) external;

    /// @notice Game only: credits an account from what the games hold.
    /// @dev Reverts with `NotGame`, or the vault's `InsufficientCustody`.
    /// @param account Who is paid.
    /// @param amount Smallest units of the stake asset.
    function pay(address account, uint256 amount) external;

    /// @notice Game only: a claim is refuted. Slashes its collateral into what the games hold and reopens the job.
    /// @dev Reverts with `NotGame` or `WrongClaimStatus`.
    /// @param jobId The claim's job.
    /// @param claimId The claim.
    /// @param worker Whose collateral it is.
    /// @return collateral What was slashed, in smallest units of the stake asset.
    function refuted(bytes32 jobId, bytes32 claimId, address worker) external returns (uint256 collateral);

    /// @notice What is kept of a job.
    /// @param jobId The job.
    /// @return status Its status; `None` if it was never posted.
    /// @return worker Its worker while it is claimed, else zero.
    /// @return until Until when the worker may submit; the end of the window; since when the claim is final, 0 if its
    /// fee was reclaimed (unix time).
    /// @return missingParts Input parts that are still missing.
    function jobOf(
        bytes32 jobId
    ) external view returns (JobStatus status, address worker, uint256 until, uint256 missingParts);

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

    /// @notice What is kept of a claim.
    /// @param key The claim.
    /// @return status Its status.
    /// @return time End of its window; of a final claim, since when it is final, 0 if its fee was reclaimed (unix).
    /// @return delivered Bit i: output i was delivered. 0 for a job that one call completed.
    /// @return calledBack Bit i: the requester took output i. 0 for a job that one call completed.
    /// @return paid Whether the fee is released.
    function claimOf(
        ClaimKey calldata key
    ) external view returns (ClaimStatus status, uint256 time, uint256 delivered, uint256 calledBack, bool paid);

    /// @notice The id of a job with this content on this market.
    /// @param job The whole job.
    /// @return The id.
    function jobIdOf(Job calldata job) external view returns (bytes32);

    /// @notice The vault that holds all money.
    /// @return Its address.
    function vault() external view returns (IStakeVault);

    /// @notice The dispute game.
    /// @return Its address.
    function game() external view returns (IDisputeGame);

    /// @notice What this deployment is: its semantics, contracts and parameters, in one call.
    /// @return All of it.
    function deployment() external view returns (Deployment memory);
}
