// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The whole content of a job. Its id is the hash of this content: nothing of it is stored, every call brings
/// it.
/// @param requester Who posted it, pays for it, and receives the callback.
/// @param programRoot The program to execute (docs/program.md).
/// @param inputsRoot Merkle list of the roots of the inputs; zero for a program without inputs.
/// @param work How long the slowest execution of all items takes, in units of work.
/// @param checkpoints Checkpoints of the program, from its header: the leaves of a trace.
/// @param items How often the program is executed: a run of so many items, 1 to `MAX_ITEMS`.
/// @param firstItem What an input that is the index reads in the first item.
/// @param answers Output roots that a claim consists of: all outputs of the program. 0: it consists of the roots of the
/// items' traces.
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
/// @param termsHash What is rarely asked for: the hash of these terms. Zero: nothing of it.
struct Job {
    address requester;
    bytes32 programRoot;
    bytes32 inputsRoot;
    uint64 work;
    uint32 checkpoints;
    uint32 items;
    uint32 firstItem;
    uint8 answers;
    uint128 fee;
    uint32 window;
    uint32 claimSeconds;
    uint64 deadline;
    uint32 callbackGas;
    uint32 maxOutputBytes;
    uint64 deliverables;
    bool rootOnly;
    bytes32 salt;
    bytes32 termsHash;
}

/// @notice The whole content of a claim. Its id is the hash of the worker and of the hash of the job's id, root and
/// collateral: `keccak256(abi.encode(worker, keccak256(abi.encode(jobId, root, collateral))))`.
/// @param root Merkle list of the trace roots of the items: of one item, its trace root. If the job asks for answers,
/// Merkle list of the outputs' roots: of the last item's tensor, or if each item has the output, of the list of their
/// tensors' roots.
/// @param collateral What of the worker's stake is locked behind the claim, in smallest units of the stake asset. Never
/// `type(uint128).max`.
struct Claim {
    Job job;
    address worker;
    bytes32 root;
    uint128 collateral;
}

/// @notice The content of a claim's id, without the job's own content.
struct ClaimKey {
    bytes32 jobId;
    address worker;
    bytes32 root;
    uint128 collateral;
}

/// @title Content hashes that name jobs and claims.
library JobIds {
    /// @dev Bytes of a job's fields, in a call as in memory, and of what is hashed: chain and market come before them.
    uint256 private constant JOB_BYTES = 0x240;
    uint256 private constant HASHED_BYTES = 0x280;

    /// @notice The id of a job on this chain and market: `keccak256(abi.encode(chainid, market, job))`.
    /// @dev SAFETY: fields are hashed as the call brings them. One with bits beyond its type gives the id of no job.
    function jobId(Job calldata job, address market) internal view returns (bytes32 id) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore(start, chainid())
            mstore(add(start, 0x20), shr(96, shl(96, market)))
            calldatacopy(add(start, 0x40), job, JOB_BYTES)
            id := keccak256(start, HASHED_BYTES)
        }
    }

    /// @notice The same id of a job that is not posted yet.
    /// @dev SAFETY: a field in memory has no bits beyond its type's.
    function newJobId(Job memory job, address market) internal view returns (bytes32 id) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore(start, chainid())
            mstore(add(start, 0x20), shr(96, shl(96, market)))
            mcopy(add(start, 0x40), job, JOB_BYTES)
            id := keccak256(start, HASHED_BYTES)
        }
    }

    /// @notice The id of a worker's claim that `root` commits to what a job asks for, with what is locked behind it.
    function claimId(bytes32 job, address worker, bytes32 root, uint128 collateral) internal pure returns (bytes32) {
        return claimId(worker, keccak256(abi.encode(job, root, collateral)));
    }

    /// @notice The same id, from the hash of the job's id, root and collateral.
    function claimId(address worker, bytes32 content) internal pure returns (bytes32) {
        return keccak256(abi.encode(worker, content));
    }

    /// @notice The id of the claim that a key names.
    function claimId(ClaimKey calldata key) internal pure returns (bytes32) {
        return claimId(key.jobId, key.worker, key.root, key.collateral);
    }
}
