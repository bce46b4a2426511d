// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts, CheckpointOpening, StepOpening} from "./Program.sol";
import {ChunkOpening} from "../interfaces/IStepVerifier.sol";
import {ClaimId} from "./Ids.sol";

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

/// @notice The whole state of a game, unpacked. The contract stores only the hash of the packed form: each move brings
/// the answered state, and a stale state is refused.
/// @param claimId The claim, which determines the job, the worker and the run root.
/// @param programRoot The job's program.
/// @param node Hash of the node in dispute.
/// @param runRoot Root of the run into which the worker expanded an output; else zero, and then a claim's root is the
/// run's.
/// @param traceRoot Trace root of the item once entered, else zero.
/// @param interiorRoot Root of the range's interior list once expanded, else zero.
/// @param index Position of `node` among the nodes at the same height: covers leaves `index << depth` and up.
/// @param width Leaves of the list.
/// @param depth Levels between `node` and the leaves; 0 at a leaf.
/// @param level The list that `node` is in.
/// @param turn The side to move.
/// @param first First step of the disputed checkpoint's range (set at a trace leaf).
/// @param last Last step of the range: the checkpoint's own step.
/// @param step The step whose tensor is in dispute (set at `Level.Tensor`). At an output: the output's checkpoint.
/// @param tailBytes Bytes of the tensor in its last chunk, 1..512 (set at `Level.Tensor`).
/// @param number Distinguishes a challenger's games on one claim.
/// @param item The item whose output or trace is in dispute (set on entering the item).
/// @param checkpoints Leaves of each item's trace.
/// @param move The move that produced the state.
/// @param challenger The account that opened the game.
/// @param bond The rest of the challenger's bond.
/// @param workerSeconds The worker's remaining time.
/// @param challengerSeconds The challenger's remaining time.
/// @param since When the side to move got the turn (unix time).
/// @param spent Price of the challenger's own moves so far, due to the challenger if the claim dies.
struct GameState {
    ClaimId claimId;
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
    ClaimId claimId;
    bytes32 programRoot;
    bytes32 node;
    bytes32 runRoot;
    bytes32 traceRoot;
    bytes32 interiorRoot;
    uint256 place;
    uint256 party;
    uint256 clock;
}

/// @notice The challenger's choice: an opening from the current node to one of the revealed nodes, or to any of their
/// descendants.
/// @param index Position of the picked node among the nodes at the same height.
/// @param node Hash of the picked node.
/// @param siblings From the picked node up to the current node; one per level descended. None only when opening at the
/// root of the run.
/// @param program The program, when the pick lands on an output, or a leaf of the trace or an interior. Else an empty
/// header and zero roots.
/// @param checkpoint The checkpoint at `index`, when the pick lands on a trace leaf. Else empty.
/// @param step The step leaf of the entered tensor, when the pick lands on an interior leaf or on the trace leaf of a
/// one-step range. Else empty.
struct Pick {
    uint64 index;
    bytes32 node;
    bytes32[] siblings;
    ProgramFacts program;
    CheckpointOpening checkpoint;
    StepOpening step;
}

/// @notice The authentication for one input of the disputed step.
/// @param root The input's tensor root. Zero for a constant, whose root the body contains, and for the index, whose
/// root is recomputed.
/// @param siblings Input of the job: its path under the inputs root; before that, if each item has its own tensor, the
/// item's path in the list of tensors. Input carried from the previous item: its checkpoint's path under the previous
/// item's trace root. Step inside the range: its path under the interior root. Step before the range: its checkpoint's
/// path under the trace root. Constant, index: empty.
/// @param checkpointIndex Step before the range: the number of the step's checkpoint. Else zero.
/// @param checkpoint Step before the range: the opening of the step's checkpoint. Else empty.
struct InputProof {
    bytes32 root;
    bytes32[] siblings;
    uint32 checkpointIndex;
    CheckpointOpening checkpoint;
}

/// @notice All data needed to recompute an element of the disputed tensor.
/// @param pick Its program and step belong to the tensor. Above the tensors (`Level.Trace`, `Level.Interior`) the pick
/// also gives the path down to the tensor's root; at `Level.Tensor` its index, node, siblings and checkpoint are not
/// read.
/// @param body The disputed step's body.
/// @param element Flat index of the element.
/// @param chunk The 512-byte chunk that holds the element.
/// @param chunkSiblings Opening of the chunk under the current node, or under the tensor's root just picked; none if
/// the chunk is this node.
/// @param previous Trace root of the previous item, if an input is carried from the previous item. Else zero.
/// @param previousSiblings Path of `previous` under the run root, if an input is carried. Else empty.
/// @param inputs One proof for each step input.
/// @param openings One opening for each step input (empty if not read).
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
