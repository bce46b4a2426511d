// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The preimage of a program root: `programRoot = sha256(0x00 || header || stepsRoot || checkpointsRoot)`
/// (docs/program.md).
struct ProgramFacts {
    bytes header;
    bytes32 stepsRoot;
    bytes32 checkpointsRoot;
}

/// @notice A checkpoint, opened at its position under the checkpoints root.
/// @param first First step of the checkpoint's range.
/// @param step The checkpoint's own step: the last one of its range.
/// @param siblings Opening of `sha256(0x00 || first u32 || step u32)`, from leaf to root.
struct CheckpointOpening {
    uint32 first;
    uint32 step;
    bytes32[] siblings;
}

/// @notice A step leaf, opened at its position under the steps root.
/// @param dtype Element type of the step's output.
/// @param count Elements of the step's output.
/// @param bodyHash SHA-256 of the encoded step body.
/// @param siblings Opening of `sha256(0x00 || dtype u8 || count u64 || bodyHash)`, from leaf to root.
struct StepOpening {
    uint8 dtype;
    uint64 count;
    bytes32 bodyHash;
    bytes32[] siblings;
}
