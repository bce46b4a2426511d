// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts, CheckpointOpening, StepOpening} from "./Program.sol";
import {ChunkOpening} from "../interfaces/IStepVerifier.sol";

/// @notice The list that a game is in: the outputs of an answer, the items of one output, the items of the run, the
/// checkpoints of one item's trace, the steps of one range, or the chunks of one tensor.
enum Level {
    Answer,
    Items,
    Run,
    Trace,
    Interior,
    Tensor
}

enum Side {
    Worker,
    Challenger
}

enum Move {
    Open,
    Reveal,
    Pick,
    Expand
}

/// @notice The whole state of a game, unpacked. Only the hash of the packed form is stored: each move brings the state
/// it answers, and is refused if that is stale.
/// @param claimId The claim: with it the job, the worker and the run root.
/// @param programRoot The job's program.
/// @param node Hash of the node in dispute.
/// @param runRoot Root of the run that the worker expanded an output into, else zero: then a claim's root is the run's.
/// @param traceRoot Trace root of the item once entered, else zero.
/// @param interiorRoot Root of the range's interior list once expanded, else zero.
/// @param index Position of `node` among the nodes of its height: it covers leaves `index << depth` and up.
/// @param width Leaves of the list.
/// @param depth Levels between `node` and the leaves; 0 at a leaf.
/// @param level The list that `node` is in.
/// @param turn Who is to move.
/// @param first First step of the disputed checkpoint's range (set at a trace leaf).
/// @param last Last step of that range: the checkpoint's own step.
/// @param step The step whose tensor is in dispute (set at `Level.Tensor`). At an output: the checkpoint that it is.
/// @param tailBytes Bytes of the tensor in its last chunk, 1..512 (set at `Level.Tensor`).
/// @param number Tells apart the games of a challenger on one claim.
/// @param item The item whose output or trace is in dispute (set when it is entered).
/// @param checkpoints Leaves of each item's trace.
/// @param move The move that led to this state.
/// @param challenger Who opened the game.
/// @param bond What is left of the challenger's bond.
/// @param workerSeconds What is left of the worker's time.
/// @param challengerSeconds What is left of the challenger's time.
/// @param since When the side to move got the turn (unix time).
/// @param spent Price of the challenger's own moves so far, due to it if the claim dies.
struct GameState {
    bytes32 claimId;
    bytes32 programRoot;
    bytes32 node;
    bytes32 runRoot;
    bytes32 traceRoot;
    bytes32 interiorRoot;
    address challenger;
    uint96 bond;
    uint96 spent;
    uint40 since;
    uint32 workerSeconds;
    uint32 challengerSeconds;
    uint32 checkpoints;
    uint8 depth;
    Level level;
    Side turn;
    Move move;
    uint16 tailBytes;
    uint32 number;
    uint32 index;
    uint32 width;
    uint32 first;
    uint32 last;
    uint32 step;
    uint16 item;
}

/// @notice A `GameState` in nine words, as calls bring it and events show it (contracts/game/States.sol says where
/// each field lies).
struct PackedState {
    bytes32 claimId;
    bytes32 programRoot;
    bytes32 node;
    bytes32 runRoot;
    bytes32 traceRoot;
    bytes32 interiorRoot;
    uint256 place;
    uint256 party;
    uint256 clock;
}

/// @notice The challenger's choice: an opening from the current node to one of the revealed nodes, or to any descendant
/// of one.
/// @param index Position of the picked node among the nodes of its height.
/// @param node Hash of the picked node.
/// @param siblings From the picked node up to the current one; as many as levels descended. None only when opening at
/// the root of the run.
/// @param program The program, when the pick lands on an output, or a leaf of the trace or an interior. Else an empty
/// header and zero roots.
/// @param checkpoint The checkpoint at `index`, when the pick lands on a trace leaf. Else empty.
/// @param step The step leaf of the tensor entered, when it lands on an interior leaf or on the trace leaf of a
/// one-step range. Else empty.
struct Pick {
    uint64 index;
    bytes32 node;
    bytes32[] siblings;
    ProgramFacts program;
    CheckpointOpening checkpoint;
    StepOpening step;
}

/// @notice How one input of the disputed step is authenticated.
/// @param root The input's tensor root; zero for a constant, whose root is in the body, and for the index, whose root
/// is recomputed.
/// @param siblings Input of the job: its path under the inputs root; before that, if each item has its own, the item's
/// path in the list of these. Input carried from the item before: the path of its checkpoint under that item's trace
/// root. Step inside the range: its path under the interior root. Step before the range: the path of its checkpoint
/// under the trace root. Constant, index: empty.
/// @param checkpointIndex Step before the range: the number of the checkpoint of that step. Else zero.
/// @param checkpoint Step before the range: the opening of that checkpoint. Else empty.
struct InputProof {
    bytes32 root;
    bytes32[] siblings;
    uint32 checkpointIndex;
    CheckpointOpening checkpoint;
}

/// @notice Everything needed to recompute one element of the disputed tensor.
/// @param pick Its program and step are those of the tensor. Above the tensors (`Level.Trace`, `Level.Interior`) it
/// also is the way down to the tensor's root; at `Level.Tensor` its index, node, siblings and checkpoint are not read.
/// @param body The disputed step's body.
/// @param element Flat index of the element.
/// @param chunk The 512-byte chunk that holds it.
/// @param chunkSiblings Opening of the chunk under the current node, or the tensor's root just picked; none when that
/// is the chunk.
/// @param previous Trace root of the item before, if an input is carried from it. Else zero.
/// @param previousSiblings Its path under the run root, if an input is carried. Else empty.
/// @param inputs One proof for each input of the step.
/// @param openings One opening for each input of the step (empty if not read).
struct StepProof {
    Pick pick;
    bytes body;
    uint64 element;
    bytes chunk;
    bytes32[] chunkSiblings;
    bytes32 previous;
    bytes32[] previousSiblings;
    InputProof[] inputs;
    ChunkOpening[] openings;
}
