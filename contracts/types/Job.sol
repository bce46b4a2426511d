// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The whole content of a job. Its id is the hash of this content: nothing of it is stored, every call brings
/// it.
/// @param requester Who posted it, pays for it, and receives the callback.
/// @param programRoot The program to execute (docs/program.md).
/// @param inputsRoot Merkle list of the input tensor roots; zero for a program without inputs.
/// @param work How long the slowest execution takes, in units of work, from the program's header.
/// @param checkpoints Checkpoints of the program, from its header: the leaves of a trace.
/// @param fee Payment in the stake asset, in escrow.
/// @param window Seconds between submission and finalisation in which games may be opened.
/// @param claimSeconds Seconds a worker has from claim to submission.
/// @param deadline Unix time by which a submission must be due: no claim is taken that could end later.
/// @param callbackGas Gas for `IResultConsumer.onResult` on the requester, 0 for no callback.
/// @param maxOutputBytes Outputs up to this size are delivered on chain before the fee is released; larger ones travel
/// off chain.
/// @param deliverables Bit i: output i must be delivered (derived from the header and `maxOutputBytes`).
/// @param rootOnly The input bytes are not posted. Such a job protects only those who hold the input.
/// @param salt Tells apart jobs that are otherwise equal.
struct Job {
    address requester;
    bytes32 programRoot;
    bytes32 inputsRoot;
    uint64 work;
    uint32 checkpoints;
    uint128 fee;
    uint32 window;
    uint32 claimSeconds;
    uint64 deadline;
    uint32 callbackGas;
    uint32 maxOutputBytes;
    uint64 deliverables;
    bool rootOnly;
    bytes32 salt;
}

/// @notice The whole content of a claim: `claimId = keccak256(abi.encode(jobId, worker, traceRoot))`.
struct Claim {
    Job job;
    address worker;
    bytes32 traceRoot;
}

/// @notice The content of a claim's id, without the job's own content.
struct ClaimKey {
    bytes32 jobId;
    address worker;
    bytes32 traceRoot;
}

/// @title Content hashes that name jobs and claims.
library JobIds {
    /// @notice The id of a job on this chain and market.
    function jobId(Job memory job, address market) internal view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, market, job));
    }

    /// @notice The id of a worker's claim that `traceRoot` commits to the execution of a job.
    function claimId(bytes32 job, address worker, bytes32 traceRoot) internal pure returns (bytes32) {
        return keccak256(abi.encode(job, worker, traceRoot));
    }

    /// @notice The id of the claim that a key names.
    function claimId(ClaimKey calldata key) internal pure returns (bytes32) {
        return claimId(key.jobId, key.worker, key.traceRoot);
    }
}
