// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ClaimId, JobId} from "../types/Ids.sol";
import {Job} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {Terms} from "../types/Terms.sol";
import {Parameters} from "../types/Parameters.sol";
import {IDisputeGame} from "./IDisputeGame.sol";
import {IProofChecker} from "./IProofChecker.sol";
import {IProvisioning} from "./IProvisioning.sol";
import {IStakeVault} from "./IStakeVault.sol";
import {IStepVerifier} from "./IStepVerifier.sol";

/// @notice AwaitingInput: input bytes are missing. Open: may be claimed. Claimed: a worker computes. Submitted: a claim
/// in its window or in dispute. Finalised: the claim stands, deliveries remain. Closed: cancelled or expired, the fee
/// returned. Complete: finalised, all done. Sealed: a claim's hash was submitted and will be opened. Accepted: the
/// requester took the claim during the window; the claim is paid and never becomes final. Proven: a proof showed the
/// outputs to be right if the key of the job's terms is sound; the claim is paid and never becomes final.
enum JobStatus {
    None,
    AwaitingInput,
    Open,
    Claimed,
    Submitted,
    Finalised,
    Closed,
    Complete,
    Sealed,
    Accepted,
    Proven
}

enum ClaimStatus {
    None,
    Submitted,
    Finalised,
    Refuted,
    Accepted,
    Proven
}

/// @notice Why a job cannot have a key: a proof says nothing about traces, nor about other inputs than the items share;
/// a seal would hide what a proof shows; a callback cannot tell a proven result from a final one; no public value takes
/// an element of more than 8 bytes.
enum ProofObstacle {
    NotAnAnswer,
    SeveralItems,
    InputNotShared,
    SealedSubmission,
    HasCallback,
    WideElements
}

/// @notice A requester's request. See `Job` for the terms.
/// @param program The program's header and roots: the market derives `programRoot`, `work` and the outputs from them.
/// @param inputRoots For each input: the tensor root; if each item has its own tensor, the root of the list of tensor
/// roots; zero for the index.
/// @param inputs The bytes of each input. If each item has its own tensor: the bytes of all items in order. None for
/// the index, nor for carried state that begins with zeros. An empty entry: published in parts later. An empty array:
/// none with the post.
/// @param items How often the program runs, 1 to 65,536.
/// @param firstItem The value that an index input has in the first item.
/// @param terms At most one entry: rarely used terms. Empty: no terms.
/// @param answer Whether a claim consists of the outputs' roots. Otherwise a claim consists of the items' trace roots.
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
    Terms[] terms;
}

/// @notice One part of an input tensor: `PART_BYTES` bytes (the last part: the remaining bytes).
/// @param input Number of the input.
/// @param part Number of the part within its tensor. If each item has its own tensor, plus the item times the number of
/// parts per tensor.
/// @param data The part's bytes.
/// @param siblings Opening of the part's subtree under the tensor root.
/// @param inputRoot The tensor root.
/// @param inputSiblings Opening of `inputRoot` under the job's inputs root; if each item has its own tensor, first the
/// path in the list of tensor roots.
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
/// @param data The output's bytes.
/// @param siblings Opening of the output's tensor root under the item's trace root, at the checkpoint named in the
/// header, then of the trace root under the run root. In an answer: if each item has the output, first the path from
/// the tensor root in the items' list; then from the output's root in the answer.
struct Delivery {
    ProgramFacts program;
    uint32 output;
    bytes data;
    bytes32[] siblings;
}

/// @notice A proof that a program gives the outputs of a claim for the inputs of the claim's job. The first public
/// value is the context, `keccak256(abi.encode(chainid, market, jobId, worker)) >> 8`. The elements of inputs and
/// outputs follow, tensor by tensor: as many whole elements in a value as fit 31 bytes, the first element lowest.
/// @param key The key's words: origin (1: secrets known, 2: ceremony), circuit, alpha (2 words), beta, gamma, delta (4
/// words each), then a point (2 words) for the constant and for each public value.
/// @param proof The proof's words: A (2), B (4), C (2).
/// @param program The job's program.
/// @param inputs All bytes of each input.
/// @param outputs All bytes of each output.
struct Proof {
    uint256[] key;
    uint256[8] proof;
    ProgramFacts program;
    bytes[] inputs;
    bytes[] outputs;
}

/// @notice The permanent facts of a deployment.
/// @param semantics Version of the semantics that the programs follow (docs/program.md).
/// @param vault Holds all money.
/// @param game Runs the disputes over claims.
/// @param extension The code of the market's rare calls.
/// @param checker Checks step proofs for the game.
/// @param verifier Recomputes elements for the checker.
/// @param provisioning Decides who may stake.
/// @param asset The stake asset: the chain's wrapped native token.
/// @param bond The credit that a challenger needs to open a game, in smallest units of the asset.
/// @param parameters The parameters chosen for this deployment.
struct Deployment {
    uint256 semantics;
    IStakeVault vault;
    IDisputeGame game;
    address extension;
    IProofChecker checker;
    IStepVerifier verifier;
    IProvisioning provisioning;
    IERC20 asset;
    uint256 bond;
    Parameters parameters;
}

/// @title What the market reports: its errors and its events.
interface IMarketEvents {
    error NotGame(address caller);
    error NotRequester(address caller, address requester);
    error NotWorker(address caller, address worker);
    error WrongJobStatus(JobId jobId, JobStatus actual, JobStatus needed);
    error WrongClaimStatus(ClaimId claimId, ClaimStatus actual, ClaimStatus needed);
    error JobExists(JobId jobId);
    error ClaimExists(ClaimId claimId);
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
    error WindowClosed(ClaimId claimId, uint256 windowEnd);
    error WindowOpen(ClaimId claimId, uint256 windowEnd);
    error GamesOpen(ClaimId claimId, uint256 games);
    error AlreadyPaid(ClaimId claimId);
    error NotDeliverable(uint256 output);
    error AlreadyDelivered(ClaimId claimId, uint256 output);
    error WrongOutputLength(uint256 output, uint256 given, uint256 expected);
    error NotAnOutputOfItem(uint256 output, uint256 item);
    error OutputNotInClaim(uint256 output);
    error TooLittleGas(uint256 available, uint256 needed);
    error NothingToDeliver(JobId jobId);
    error NotItsMarket(address account, address market);
    error OtherParameters(address account);
    error HasTerms(JobId jobId);
    error WrongTerms(JobId jobId, bytes32 termsHash, bytes32 given);
    error TooManyTerms(uint256 given, uint256 limit);
    error CollateralOutOfRange(uint128 given, uint128 least);
    error OpensTooSoon(uint40 openFrom, uint256 earliest);
    error NoEarlyAccept(JobId jobId);
    error ReservedForAnother(address worker, address reservedFor);
    error GroupTaken(bytes32 group, address worker);
    error NotItsTurn(address worker, uint256 fromBlock);
    error RecordTooPoor(address worker);
    error OtherManufacturer(address worker, bytes32 manufacturer);
    error ClassNotHeld(address worker, uint8 class);
    error IsSealed(JobId jobId);
    error NotSealed(JobId jobId);
    error WrongSeal(JobId jobId);
    error NotProvable(ProofObstacle obstacle);
    error WrongKey(bytes32 expected, bytes32 given);
    error KnownSecrets(uint256 chain);
    error FlawedKey(bytes32 keyHash);
    error KeyOfAnotherProgram(bytes32 expected, bytes32 given);
    error WrongOutputCount(uint256 given, uint256 expected);
    error OutputsNotInClaim(ClaimId claimId, bytes32 outputsRoot);
    error InputsNotInJob(bytes32 expected, bytes32 given);
    error NotProven(bytes32 keyHash, uint256 context);

    event JobPosted(
        JobId indexed jobId,
        address indexed requester,
        bytes32 indexed programRoot,
        Job job,
        ProgramFacts program,
        bytes32[] inputRoots
    );
    event TermsPosted(JobId indexed jobId, Terms terms);
    event InputPublished(JobId indexed jobId, uint256 indexed input, uint256 part, bytes data);
    event JobOpened(JobId indexed jobId);
    event JobClaimed(JobId indexed jobId, address indexed worker, uint256 until);
    event JobExpired(JobId indexed jobId, address indexed worker, uint256 penalty);
    event JobClosed(JobId indexed jobId, uint256 refund);
    event ClaimSubmitted(
        JobId indexed jobId,
        ClaimId indexed claimId,
        address indexed worker,
        bytes32 root,
        uint128 collateral,
        uint256 windowEnd,
        bytes nodes
    );
    event ClaimSealed(JobId indexed jobId, address indexed worker, bytes32 seal);
    event SealBroken(JobId indexed jobId, address indexed worker, uint256 collateral);
    event ClaimAccepted(JobId indexed jobId, ClaimId indexed claimId);
    event ClaimProven(JobId indexed jobId, ClaimId indexed claimId, bytes32 indexed keyHash, bytes[] outputs);
    event ClaimFinalised(JobId indexed jobId, ClaimId indexed claimId);
    event ClaimRefuted(JobId indexed jobId, ClaimId indexed claimId, address indexed worker, uint256 collateral);
    event OutputDelivered(JobId indexed jobId, ClaimId indexed claimId, uint256 indexed output, bytes data);
    event CallbackMade(JobId indexed jobId, uint256 indexed output);
    event CallbackFailed(JobId indexed jobId, uint256 indexed output);
    event FeeReleased(JobId indexed jobId, ClaimId indexed claimId, address indexed worker, uint256 fee);
    event FeeReturned(JobId indexed jobId, ClaimId indexed claimId, address indexed requester, uint256 fee);
}
