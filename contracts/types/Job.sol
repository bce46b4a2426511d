// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId, JobId} from "./Ids.sol";

/// @notice The whole content of a job. The job's id hashes the whole content: the contract does not store the content,
/// and every call brings it.
/// @param requester The account that posts and pays for the job, and receives the callback.
/// @param programRoot The program to execute (docs/program.md).
/// @param inputsRoot Merkle list of the inputs' roots; zero for a program without inputs.
/// @param work Time for the slowest execution of all items, in units of work.
/// @param checkpoints The program's checkpoints, from the header: the leaves of a trace.
/// @param items How often the program is executed: a run with this many items, 1 to `MAX_ITEMS`.
/// @param firstItem The value that an index input has in the first item.
/// @param answers Number of output roots in a claim: all outputs of the program. 0: a claim consists of the items'
/// trace roots.
/// @param fee Payment in the stake asset, in escrow.
/// @param window Seconds between submission and finalisation in which games may be opened.
/// @param claimSeconds Seconds a worker has from claim to submission.
/// @param deadline Unix time by which a submission must be due: no claim is accepted that could end later.
/// @param callbackGas Gas for `IResultConsumer.onResult` on the requester, 0 for no callback.
/// @param maxOutputBytes Outputs up to this size are delivered on chain before the fee is released; larger outputs
/// travel off chain.
/// @param deliverables Bit i: output i must be delivered (derived from the header and `maxOutputBytes`).
/// @param rootOnly The input bytes are not posted. The job then protects only holders of the input.
/// @param salt Distinguishes otherwise equal jobs.
/// @param termsHash The hash of the rarely used terms. Zero: no terms.
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

/// @notice The whole content of a claim. The claim's id hashes the worker and a hash over the job's id, root and
/// collateral: `keccak256(abi.encode(worker, keccak256(abi.encode(jobId, root, collateral))))`.
/// @param root Merkle list of the items' trace roots; for one item, its trace root. If the job asks for answers, Merkle
/// list of the outputs' roots: the root of the last item's tensor, or if each item has the output, of the list of
/// tensor roots.
/// @param collateral The part of the worker's stake locked behind the claim, in smallest units of the stake asset.
/// Never `type(uint128).max`.
struct Claim {
    Job job;
    address worker;
    bytes32 root;
    uint128 collateral;
}

/// @notice The content of a claim's id, without the job's own content.
struct ClaimKey {
    JobId jobId;
    address worker;
    bytes32 root;
    uint128 collateral;
}

/// @title Content hashes that name jobs and claims.
library JobIds {
    /// @dev Sizes in bytes of a job's fields (the same in a call and in memory), and of the hashed data: chain and
    /// market precede the fields.
    uint256 private constant JOB_BYTES = 0x240;
    uint256 private constant HASHED_BYTES = 0x280;

    /// @notice Returns the id of a job on this chain and market: `keccak256(abi.encode(chainid, market, job))`.
    /// @dev SAFETY: fields are hashed exactly as given in the call. A field with excess bits gives an id without a job.
    function jobId(Job calldata job, address market) internal view returns (JobId id) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore(start, chainid())
            mstore(add(start, 0x20), shr(96, shl(96, market)))
            calldatacopy(add(start, 0x40), job, JOB_BYTES)
            id := keccak256(start, HASHED_BYTES)
        }
    }

    /// @notice Returns the same id for a job not posted yet.
    /// @dev SAFETY: a field in memory has no bits beyond its type's.
    function newJobId(Job memory job, address market) internal view returns (JobId id) {
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore(start, chainid())
            mstore(add(start, 0x20), shr(96, shl(96, market)))
            mcopy(add(start, 0x40), job, JOB_BYTES)
            id := keccak256(start, HASHED_BYTES)
        }
    }

    /// @notice Returns the id of a question: jobs of one requester have the same id if they ask the same program about
    /// the same inputs on the same terms. The seats of a panel do.
    function questionId(Job calldata job) internal pure returns (bytes32) {
        return
            keccak256(
                abi.encode(job.requester, job.termsHash, job.programRoot, job.inputsRoot, job.items, job.firstItem)
            );
    }

    /// @notice Returns the id of a worker's claim that `root` commits to the job's requested result, backed by the
    /// given collateral.
    function claimId(JobId job, address worker, bytes32 root, uint128 collateral) internal pure returns (ClaimId) {
        return claimId(worker, keccak256(abi.encode(job, root, collateral)));
    }

    /// @notice The same id, from the hash of the job's id, root and collateral.
    function claimId(address worker, bytes32 content) internal pure returns (ClaimId) {
        return ClaimId.wrap(keccak256(abi.encode(worker, content)));
    }

    /// @notice Returns the id of a key's claim.
    function claimId(ClaimKey calldata key) internal pure returns (ClaimId) {
        return claimId(key.jobId, key.worker, key.root, key.collateral);
    }
}
