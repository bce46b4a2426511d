// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Claim, ClaimKey} from "../types/Job.sol";
import {PackedState, Pick, StepProof, Side, Level} from "../types/GameState.sol";
import {IStepVerifier} from "./IStepVerifier.sol";
import {IJobMarket} from "./IJobMarket.sol";

/// @notice WorkerWon: the challenger lost this game. ChallengerWon: this game killed the claim. Settled: the claim died in another game.
enum Outcome {
    WorkerWon,
    ChallengerWon,
    Settled
}

/// @title The dispute game over one claim: descend to one element, then recompute it.
/// @dev `gameId = keccak256(abi.encode(claimId, challenger, openIndex, openDepth))`, all of it in the state. Only the hash of a game's state is stored;
/// clients take the state from the latest `Picked` or `Moved` event of the game and pass it back unchanged.
interface IDisputeGame {
    error StaleState(bytes32 gameId, bytes32 stored, bytes32 given);
    error GameExists(bytes32 gameId);
    error NotTurnOf(Side side);
    error NotWorker(address caller, bytes32 claimId);
    error NotChallenger(address caller, address challenger);
    error NotAParty(address caller);
    error ClaimDead(bytes32 claimId);
    error ClaimAlive(bytes32 claimId);
    error ClockExpired(Side side, uint256 left, uint256 elapsed);
    error ClockRunning(Side side, uint256 left, uint256 elapsed);
    error WrongDataLength(uint256 given, uint256 expected);
    error NotTheNode(bytes32 node, bytes32 given);
    error PaddingNotZero(uint256 position);
    error NothingToReveal(Level level);
    error NothingToExpand(Level level, uint8 depth);
    error NothingToPick(Level level);
    error WrongPathLength(uint256 given, uint256 most);
    error PickShortOfReveal(uint256 levels, uint256 revealed);
    error PickNotBelowNode(uint64 index, uint64 nodeIndex);
    error PickPastWidth(uint64 index, uint64 width);
    error WrongProgram(bytes32 expected, bytes32 given);
    error WrongClaim(bytes32 expected, bytes32 given);
    error CheckpointNotProven(uint256 index);
    error StepNotProven(uint256 index);
    error LastLeafNotDisputed(bytes32 leaf);
    error NotAtTensor(Level level);
    error WrongBody(bytes32 expected, bytes32 given);
    error ElementOutOfRange(uint64 element, uint64 count);
    error ElementNotBelowNode(uint64 element);
    error WrongInputCount(uint256 given, uint256 expected);
    error InputNotProven(uint256 input);
    error ReadsLaterStep(uint256 input, uint32 read, uint32 step);
    error NotACheckpoint(uint256 input, uint32 step);
    error ProofFails(uint256 claimed, uint256 exact);
    error NothingEarned(bytes32 claimId);
    error NotPlainAccount(address caller);

    /// @notice A challenger's move, `Open` or `Pick`, and the state it led to.
    event Picked(bytes32 indexed gameId, PackedState state);
    /// @notice A worker's move, `Reveal` or `Expand`, and the state it led to.
    /// @param data The children (32 bytes each) or the chunk.
    event Moved(bytes32 indexed gameId, PackedState state, bytes data);
    /// @notice A step proof held: element `element` of step `step` was claimed as `claimed` and is `exact` (words of the element's size).
    event Proved(
        bytes32 indexed gameId,
        bytes32 indexed claimId,
        uint32 step,
        uint64 element,
        uint256 claimed,
        uint256 exact
    );
    /// @notice A game is over; `paid` went to the challenger (or, if the worker won, to the worker).
    event GameClosed(bytes32 indexed gameId, bytes32 indexed claimId, Outcome indexed outcome, uint256 paid);
    /// @notice A claim died: what was left for the games alive (`pot`), what they are due (`dues`), and what went to the sink.
    event ClaimDied(bytes32 indexed claimId, bytes32 indexed gameId, uint256 pot, uint256 dues, uint256 toSink);
    /// @notice A worker collected what its moves earned from bonds.
    event EarningsCollected(bytes32 indexed claimId, address indexed worker, uint256 amount);

    /// @notice Opens a game against a claim in its window and picks a first node (or, without siblings, the trace root). Takes the bond from the caller's credit.
    function open(Claim calldata claim, Pick calldata pick_) external returns (bytes32 gameId);

    /// @notice The worker's answer to a node: its `2^hop` children, or at a tensor's leaf the chunk. Proves itself, so any plain
    /// account may send it.
    function reveal(PackedState calldata state, bytes calldata data) external;

    /// @notice The challenger's choice of a node below the current one.
    function pick(PackedState calldata state, Pick calldata pick_) external;

    /// @notice Worker only, at a trace leaf: opens the range's interior list by the first `2^hop` nodes below its root.
    /// @param jobId Job of the caller's claim.
    /// @param traceRoot Trace root of the caller's claim.
    /// @param children Those nodes; the interior root is their hash.
    /// @param siblings Opening of the list's last leaf, which must be the disputed leaf, up to the last child that is not past the width.
    function expand(
        PackedState calldata state,
        bytes32 jobId,
        bytes32 traceRoot,
        bytes calldata children,
        bytes32[] calldata siblings
    ) external;

    /// @notice Challenger only: recomputes one element below the current node. The claim dies if it differs. At a node of a tensor, or at any node from which
    /// the proof's pick leads to a tensor's root: whoever holds the worker's nodes picks and proves in one.
    /// @dev Reverts with `ProofFails` if it agrees. For a free check make the same call by eth_call. Allowed while the worker is to move: evidence waits for nobody.
    function prove(PackedState calldata state, Claim calldata claim, StepProof calldata proof) external;

    /// @notice Either party gives up.
    function concede(PackedState calldata state, ClaimKey calldata key) external;

    /// @notice The side to move has used up its time, and loses. Anyone may, and is paid for it: by the slashed collateral or, if the challenger loses,
    /// by its bond (unless the worker itself calls).
    function timeout(PackedState calldata state, ClaimKey calldata key) external;

    /// @notice Closes a game whose claim died in another one: bond and own gas back, this call's too, at what gas costs now. Any plain account may. The last one
    /// pays the sink what all left.
    /// @dev Reverts with `ClaimAlive` before that death, with `StaleState` after the settlement.
    function settle(PackedState calldata state) external;

    /// @notice Credits a worker with what its moves on a claim earned. Anyone may.
    function collect(ClaimKey calldata key) external;

    /// @notice Hash of a game's state; zero if it never was or ended with its claim, one if the worker won it.
    function stateHash(bytes32 gameId) external view returns (bytes32);

    /// @notice Games open on a claim, whether it is dead, what its games are due if it dies (of a dead one: what is left for those that have not settled),
    /// what its worker has earned and not collected.
    function claimGames(bytes32 claimId) external view returns (uint256 open_, bool dead, uint256 dues, uint256 earned);

    /// @notice Levels that the next reveal crosses at a node `depth` levels above the leaves.
    function hopOf(uint8 depth) external view returns (uint8);

    /// @notice What a challenger needs as credit to open a game.
    function bond() external view returns (uint256);

    function market() external view returns (IJobMarket);

    function verifier() external view returns (IStepVerifier);
}
