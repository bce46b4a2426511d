// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts, CheckpointOpening, StepOpening} from "./Program.sol";
import {ChunkOpening} from "../verifier/IStepVerifier.sol";

/// @notice The list that a game is in: the checkpoints of the trace, the steps of one range, or the chunks of one tensor.
enum Level {
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

/// @notice The whole state of a game. Only its hash is stored: each move brings the state it answers, and is refused if that is stale.
/// @param jobId The job.
/// @param traceRoot The claim's trace root.
/// @param programRoot The job's program.
/// @param worker Who made the claim.
/// @param challenger Who opened the game.
/// @param node Hash of the node in dispute.
/// @param interiorRoot Root of the range's interior list once expanded, else zero.
/// @param index Position of `node` among the nodes of its height: it covers leaves `index << depth` and up.
/// @param width Leaves of the list.
/// @param depth Levels between `node` and the leaves; 0 at a leaf.
/// @param level The list that `node` is in.
/// @param turn Who is to move.
/// @param first First step of the disputed checkpoint's range (set at a trace leaf).
/// @param last Last step of that range: the checkpoint's own step.
/// @param step The step whose tensor is in dispute (set at `Level.Tensor`).
/// @param tailBytes Bytes of the tensor in its last chunk, 1..512 (set at `Level.Tensor`).
/// @param workerSeconds What is left of the worker's time.
/// @param challengerSeconds What is left of the challenger's time.
/// @param since When the side to move got the turn (unix time).
/// @param bond What is left of the challenger's bond.
/// @param spent Price of the challenger's own moves so far, due to it if the claim dies.
struct GameState {
    bytes32 jobId;
    bytes32 traceRoot;
    bytes32 programRoot;
    address worker;
    address challenger;
    bytes32 node;
    bytes32 interiorRoot;
    uint64 index;
    uint64 width;
    uint8 depth;
    Level level;
    Side turn;
    uint32 first;
    uint32 last;
    uint32 step;
    uint16 tailBytes;
    uint32 workerSeconds;
    uint32 challengerSeconds;
    uint40 since;
    uint128 bond;
    uint128 spent;
}

/// @notice The challenger's choice: an opening from the current node to one of the revealed nodes, or to any descendant of one.
/// @param index Position of the picked node among the nodes of its height.
/// @param node Hash of the picked node.
/// @param siblings From the picked node up to the current one; as many as levels descended. None only when opening at the trace root.
/// @param program The program; needed by `open`, and by `pick` when it lands on a leaf. Else an empty header and zero roots.
/// @param checkpoint The checkpoint at `index`, when the pick lands on a trace leaf. Else empty.
/// @param step The step leaf of the tensor entered, when it lands on an interior leaf or on the trace leaf of a one-step range. Else empty.
struct Pick {
    uint64 index;
    bytes32 node;
    bytes32[] siblings;
    ProgramFacts program;
    CheckpointOpening checkpoint;
    StepOpening step;
}

/// @notice How one input of the disputed step is authenticated.
/// @param root The input's tensor root; zero for a constant, whose root is in the body.
/// @param siblings Job input: its path under the inputs root. Step inside the range: its path under the interior root.
/// Step before the range: the path of its checkpoint under the trace root. Constant: empty.
/// @param checkpointIndex Step before the range: the number of the checkpoint of that step. Else zero.
/// @param checkpoint Step before the range: the opening of that checkpoint. Else empty.
struct InputProof {
    bytes32 root;
    bytes32[] siblings;
    uint32 checkpointIndex;
    CheckpointOpening checkpoint;
}

/// @notice Everything needed to recompute one element of the disputed tensor.
/// @param program The job's program.
/// @param step The disputed step's leaf.
/// @param body The disputed step's body.
/// @param element Flat index of the element.
/// @param chunk The 512-byte chunk that holds it.
/// @param chunkSiblings Opening of the chunk under the current node; none when the current node is the chunk.
/// @param inputs One proof for each input of the step.
/// @param openings One opening for each input of the step (empty if not read).
struct StepProof {
    ProgramFacts program;
    StepOpening step;
    bytes body;
    uint64 element;
    bytes chunk;
    bytes32[] chunkSiblings;
    InputProof[] inputs;
    ChunkOpening[] openings;
}
