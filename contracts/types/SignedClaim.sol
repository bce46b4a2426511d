// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts} from "./Program.sol";

/// @notice A claim that a worker bound itself to elsewhere, as one of the authorised contracts puts it on chain.
/// @param program The program's header and roots.
/// @param inputRoots Of each input its tensor root, as in `JobRequest`.
/// @param inputs The bytes of each input, as in `JobRequest`, so that everybody can judge the claim. An empty array:
/// none; then it protects only those who hold the inputs.
/// @param items How often the program is executed, 1 to 65,536.
/// @param firstItem What an input that is the index reads in the first item.
/// @param answer Whether the claim consists of the outputs' roots. Else it consists of the roots of the items' traces.
/// @param worker Whose claim it is.
/// @param requester For whom it was made.
/// @param root The claim's root.
/// @param issued When the worker bound itself to it, unix time.
/// @param salt Tells apart the claims of one authorised contract that are otherwise equal.
struct PledgedEntry {
    ProgramFacts program;
    bytes32[] inputRoots;
    bytes[] inputs;
    uint32 items;
    uint32 firstItem;
    bool answer;
    address worker;
    address requester;
    bytes32 root;
    uint64 issued;
    bytes32 salt;
}

/// @notice What a worker signs (EIP-712) with the answer that it gives: that these outputs are right.
/// @param worker Who signs.
/// @param payer For whom it is: who may sign a ticket about it.
/// @param programRoot The program that was executed.
/// @param inputsRoot Merkle list of the roots of the inputs; zero for a program without inputs.
/// @param items How often it was executed.
/// @param firstItem What an input that is the index read in the first item.
/// @param number The worker's number of the claim. Tells apart claims that are otherwise equal.
/// @param issued When it was signed, unix time.
/// @param root Merkle list of the outputs' roots, as in the answer of a job.
/// @param secretHash `keccak256(abi.encode(secret))` of 32 random bytes that only the worker knows: with the payer's
/// ticket they decide whether that wins.
struct SignedClaim {
    address worker;
    address payer;
    bytes32 programRoot;
    bytes32 inputsRoot;
    uint32 items;
    uint32 firstItem;
    uint64 number;
    uint64 issued;
    bytes32 root;
    bytes32 secretHash;
}

/// @notice What a signed claim does not say but its entry on chain needs. See `PledgedEntry`.
/// @param nodes The outputs' roots, 32 bytes each.
struct Landing {
    ProgramFacts program;
    bytes32[] inputRoots;
    bytes[] inputs;
    bytes nodes;
}

/// @notice What a payer signs (EIP-712) once it has the answer: a chance of being paid.
/// @param claim EIP-712 digest of the worker's signed claim.
/// @param face What a ticket that wins is paid, smallest units of the stake asset.
/// @param odds It wins if `keccak256(abi.encode(secret, digest of the ticket))` is below this number of 2^256.
/// @param expiry Until when it can be cashed, unix time.
/// @param nonce 32 random bytes of the payer.
// solhint-disable-next-line gas-struct-packing
struct Ticket {
    bytes32 claim;
    uint128 face;
    uint256 odds;
    uint64 expiry;
    bytes32 nonce;
}
