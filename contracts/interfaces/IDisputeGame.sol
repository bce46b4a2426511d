// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId, GameId} from "../types/Ids.sol";
import {Claim, ClaimKey} from "../types/Job.sol";
import {PackedState, Pick, StepProof, Side, Level} from "../types/GameState.sol";
import {IProofChecker} from "./IProofChecker.sol";
import {IClaimContract} from "./IClaimContract.sol";

/// @notice WorkerWon: the challenger lost this game. ChallengerWon: this game killed the claim. Settled: the claim died
/// in another game.
enum Outcome {
    WorkerWon,
    ChallengerWon,
    Settled
}

/*
 * The state machine of a game. A state is the list that the disputed node is in (`level`: the outputs of an answer, the
 * items of one output, the run, the trace of an item, the interior of one range of steps, or one step's tensor), the
 * levels from that node down to the list's leaves (`depth`), and the side to move (`turn`). `Descent` changes the first
 * two, `DisputeGame._begin` the third.
 *
 *   State       | level  | depth | turn       | Call   | Who may send it       | Next state
 *   ------------+--------+-------+------------+--------+-----------------------+-------------------------------------
 *   none        |        |       |            | open   | anyone with the bond, | ARRIVAL at a node of the run, or at
 *               |        |       |            |        | in the claim's window | a leaf of the answer
 *   NODE        | any    | > 0   | Worker     | reveal | any plain account     | REVEALED, the same node
 *   REVEALED    | any    | > 0   | Challenger | pick   | its challenger        | ARRIVAL at a node below
 *   OUTPUT      | Answer | 0     | Worker     | expand | the claim's worker    | REVEALED, the run's root
 *   OUTPUT      | Items  | 0     | Worker     | expand | the claim's worker    | REVEALED, that item's trace root
 *   RANGE       | Trace  | 0     | Worker     | expand | the claim's worker    | REVEALED, the interior's root
 *   CHUNK       | Tensor | 0     | Worker     | reveal | any plain account     | CHUNK SHOWN
 *   CHUNK SHOWN | Tensor | 0     | Challenger | none   |                       | one of the ends below
 *
 *   ARRIVAL: where `open` or `pick` lands                         | Next state
 *   --------------------------------------------------------------+---------------------------------------------------
 *   above the leaves of a list                                    | NODE
 *   at a leaf of the answer: an output that several items have    | NODE of that output's items
 *   at a leaf of the answer: the last item's output, if items     | OUTPUT
 *   take tensors from the item before                             |
 *   at a leaf of the answer: any other one; or a leaf of the      | OUTPUT of that item; if it is the only checkpoint,
 *   items of an output                                            | ARRIVAL at that item's trace root
 *   at a leaf of the run, or of a run of one item                 | ARRIVAL at that item's trace root
 *   at a leaf of the trace whose range has several steps          | RANGE
 *   at a leaf of the trace whose range has one step               | that step's tensor root: NODE, or CHUNK if it has
 *   at a leaf of an interior                                      | one chunk only
 *   at a leaf of a tensor                                         | CHUNK
 *
 *   End     | Possible in                          | Who may send it         | Outcome       | Claim | `stateHash`
 *   --------+--------------------------------------+-------------------------+---------------+-------+--------------
 *   prove   | NODE, REVEALED, CHUNK, CHUNK SHOWN:  | its challenger; in its  | ChallengerWon | dies  | 0
 *           | an element below the node is wrong   | own turn only in time   |               |       |
 *   concede | every state                          | the claim's worker      | ChallengerWon | dies  | 0
 *   concede | every state                          | its challenger          | WorkerWon     | lives | 1 (`CLOSED`)
 *   timeout | the worker's turn, its time used up  | anyone                  | ChallengerWon | dies  | 0
 *   timeout | the challenger's turn, likewise      | anyone                  | WorkerWon     | lives | 1 (`CLOSED`)
 *   settle  | every state, once the claim died in  | any plain account       | Settled       | dead  | 0
 *           | another game                         |                         |               |       |
 *
 * - All of these calls but `settle` need a living claim. `reveal`, `pick` and `expand` also need their side's turn
 *   and time. `collect` pays earnings whatever became of the games.
 * - In NODE and REVEALED above the tensors `prove` carries a pick that must lead to a tensor's root.
 * - A claim has any number of games at once, each with its own id: claim, challenger, and a number that it chose.
 * - A game that has ended does not begin again: 1 stays, and a dead claim takes no new games.
 */

/// @title The dispute game over one claim: descend to one element, then recompute this element.
/// @dev `gameId = keccak256(abi.encode(claimId, challenger, number))`, all from the state. The contract stores only the
/// hash of a game's state. Clients take the state from the game's latest `Picked` or `Moved` event and pass the state
/// back unchanged.
interface IDisputeGame {
    error StaleState(GameId gameId, bytes32 stored, bytes32 given);
    error GameExists(GameId gameId);
    error NotTurnOf(Side side);
    error NotWorker(address caller, ClaimId claimId);
    error NotChallenger(address caller, address challenger);
    error NotAParty(address caller);
    error ClaimDead(ClaimId claimId);
    error ClaimAlive(ClaimId claimId);
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
    error WrongClaim(ClaimId expected, ClaimId given);
    error CheckpointNotProven(uint256 index);
    error StepNotProven(uint256 index);
    error LeafNotInList(bytes32 leaf);
    error NotAtTensor(Level level);
    error WrongBody(bytes32 expected, bytes32 given);
    error ElementOutOfRange(uint64 element, uint64 count);
    error ElementNotBelowNode(uint64 element);
    error WrongInputCount(uint256 given, uint256 expected);
    error InputNotProven(uint256 input);
    error NoItemBefore();
    error PreviousNotProven(uint256 item);
    error ReadsLaterStep(uint256 input, uint32 read, uint32 step);
    error NotACheckpoint(uint256 input, uint32 step);
    error ProofFails(uint256 claimed, uint256 exact);
    error NothingEarned(ClaimId claimId);
    error NotPlainAccount(address caller);

    /// @notice A challenger's move, `Open` or `Pick`, and the state it led to.
    event Picked(GameId indexed gameId, PackedState state);
    /// @notice A worker's move, `Reveal` or `Expand`, and the state it led to.
    /// @param data The children (32 bytes each) or the chunk.
    event Moved(GameId indexed gameId, PackedState state, bytes data);
    /// @notice A step proof succeeded: element `element` of step `step` was claimed as `claimed` but equals `exact`
    /// (words of the element's size).
    event Proved(
        GameId indexed gameId,
        ClaimId indexed claimId,
        uint32 step,
        uint64 element,
        uint256 claimed,
        uint256 exact
    );
    /// @notice A game is over; `paid` went to the challenger (or, if the worker won, to the worker).
    event GameClosed(GameId indexed gameId, ClaimId indexed claimId, Outcome indexed outcome, uint256 paid);
    /// @notice A claim died.
    /// @param pot The amount left for the games that were alive.
    /// @param dues The amount due to these games.
    /// @param toSink The amount sent to the sink.
    event ClaimDied(ClaimId indexed claimId, GameId indexed gameId, uint256 pot, uint256 dues, uint256 toSink);
    /// @notice A worker collected its moves' earnings from bonds.
    event EarningsCollected(ClaimId indexed claimId, address indexed worker, uint256 amount);

    /// @notice Opens a game against a claim in its window, at a node of the run, or at an output of the answer. Takes
    /// the bond from the caller's credit.
    /// @dev Reverts with `GameExists`, `ClaimDead`, the market's `WindowClosed` or `WrongClaimStatus`, the vault's
    /// `InsufficientCredit`, and as `pick` does for a wrong pick.
    /// @param claim The whole claim, with its job.
    /// @param number Chosen by the caller: tells its games on the claim apart.
    /// @param pick_ The first node; without siblings, the root of the run. Of an answer, an output with the program.
    /// @return gameId The game's id.
    function open(Claim calldata claim, uint32 number, Pick calldata pick_) external returns (GameId gameId);

    /// @notice The worker's answer to a node: its `2^hop` children, or at a tensor's leaf the chunk. The data prove
    /// themselves, and therefore any plain account may send them.
    /// @dev Reverts with `StaleState`, `ClaimDead`, `NotTurnOf`, `ClockExpired`, `NotPlainAccount`, `NothingToReveal`
    /// at a leaf above the tensors, and `WrongDataLength`, `NotTheNode` or `PaddingNotZero` for wrong data.
    /// @param state The game's current state.
    /// @param data The children, 32 bytes each, or the 512 bytes of the chunk.
    function reveal(PackedState calldata state, bytes calldata data) external;

    /// @notice Challenger only: chooses a node below the current node, at least down to the revealed nodes.
    /// @dev Reverts with `StaleState`, `ClaimDead`, `NotTurnOf`, `ClockExpired`, `NotChallenger`, `NothingToPick` at a
    /// leaf, `PickShortOfReveal`, `WrongPathLength`, `PickNotBelowNode`, `PickPastWidth` or `NotTheNode` for a wrong
    /// path, and `WrongProgram`, `CheckpointNotProven` or `StepNotProven` for a leaf's wrong program data.
    /// @param state The game's current state.
    /// @param pick_ The chosen node, and the path up to the current node.
    function pick(PackedState calldata state, Pick calldata pick_) external;

    /// @notice Worker only, at a leaf that stands for a separate list: shows the first `2^hop` nodes below the list's
    /// root. For a trace leaf, the list is the interior of the leaf's range. For an answer's output, the list is the
    /// item's trace, or the run if items take tensors from the previous item.
    /// @dev Reverts with `StaleState`, `ClaimDead`, `NotTurnOf`, `ClockExpired`, `NotWorker`, `NothingToExpand`
    /// elsewhere, and `WrongDataLength`, `PaddingNotZero` or `LeafNotInList` for wrong nodes.
    /// @param state The game's current state.
    /// @param content Hash of the job's id, root and collateral of the caller's claim.
    /// @param children The first nodes, 32 bytes each; their hash is the list's root.
    /// @param siblings Opening from the disputed leaf up to one of the children. The leaf must be the last leaf of an
    /// interior, the output's checkpoint in a trace, or the same checkpoint of the last item's trace in a run.
    function expand(
        PackedState calldata state,
        bytes32 content,
        bytes calldata children,
        bytes32[] calldata siblings
    ) external;

    /// @notice Challenger only: recomputes one element below the current node. If the result differs from the claimed
    /// element, the claim dies. Possible at a tensor's node, or at any node from which the proof's pick leads to a
    /// tensor's root: a challenger with the worker's nodes picks and proves in one call.
    /// @dev Reverts with `ProofFails` if the element agrees; the same call by eth_call checks this for free. Allowed
    /// while the worker is to move. Also reverts with `StaleState`, `ClaimDead`, `NotChallenger`, `WrongClaim`,
    /// `ClockExpired` in the challenger's own turn, `NotAtTensor`, and with the error for any unproven part.
    /// @param state The game's current state.
    /// @param claim The whole claim, with its job.
    /// @param proof The element, and the data that prove it.
    function prove(PackedState calldata state, Claim calldata claim, StepProof calldata proof) external;

    /// @notice Either party gives up: the claim dies if the worker calls, the game is lost if its challenger does.
    /// @dev Reverts with `StaleState`, `ClaimDead`, `WrongClaim`, and `NotAParty` for other callers.
    /// @param state The game's current state.
    /// @param key The game's claim.
    function concede(PackedState calldata state, ClaimKey calldata key) external;

    /// @notice Ends a game because the side to move has used up its time and loses. Anyone may call. A plain account is
    /// paid the gas that the call burns: from the slashed collateral or, if the challenger loses, from the challenger's
    /// bond (unless the worker itself calls).
    /// @dev Reverts with `StaleState`, `ClaimDead`, `WrongClaim`, and `ClockRunning` while time remains.
    /// @param state The game's current state.
    /// @param key The game's claim.
    function timeout(PackedState calldata state, ClaimKey calldata key) external;

    /// @notice Closes a game whose claim died in another game. The challenger gets the bond back and is paid for its
    /// own gas, including this call, at the current gas price. Any plain account may call. The last such call pays the
    /// total remainder to the sink.
    /// @dev Reverts with `ClaimAlive` before the claim's death, with `StaleState` after the settlement, with
    /// `NotPlainAccount`.
    /// @param state The game's current state.
    function settle(PackedState calldata state) external;

    /// @notice Credits a worker with the earnings from its moves on a claim. Anyone may call.
    /// @dev Reverts with `NothingEarned`.
    /// @param key The claim.
    function collect(ClaimKey calldata key) external;

    /// @notice Hash of a game's state. Zero for a game that never existed or ended with its claim; one for a game won
    /// by the worker.
    /// @param gameId The game.
    /// @return The hash.
    function stateHash(GameId gameId) external view returns (bytes32);

    /// @notice Whether a claim of a root died by a step proof, in a job with terms whose claims are roots of traces.
    /// @param question The requester, terms, program and inputs of the job: `JobIds.questionId`.
    /// @param root The claimed root.
    /// @return Whether a claim died so.
    function provedWrong(bytes32 question, bytes32 root) external view returns (bool);

    /// @notice The games on a claim, and their money in smallest units of the stake asset.
    /// @param claimId The claim.
    /// @return open_ Number of open games.
    /// @return dead Whether the claim is dead.
    /// @return dues Amount due to the games if the claim dies; for a dead claim, the amount left for unsettled games.
    /// @return earned Amount that the worker has earned and not collected.
    function claimGames(ClaimId claimId) external view returns (uint256 open_, bool dead, uint256 dues, uint256 earned);

    /// @notice Levels that the next reveal crosses.
    /// @param depth Levels between the node and the leaves.
    /// @return The levels: log2 of the children that are revealed.
    function hopOf(uint8 depth) external view returns (uint8);

    /// @notice The credit that a challenger needs to open a game, in smallest units of the stake asset.
    /// @return The bond.
    function bond() external view returns (uint256);

    /// @notice The market whose claims are disputed here.
    /// @return Its address.
    function market() external view returns (IClaimContract);

    /// @notice The contract that checks step proofs.
    /// @return Its address.
    function checker() external view returns (IProofChecker);

    /// @notice What this game was deployed with: its market must have the same.
    /// @return `keccak256(abi.encode(parameters))`.
    function parametersHash() external view returns (bytes32);
}
