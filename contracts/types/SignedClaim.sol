// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts} from "./Program.sol";

/// @notice A claim that a worker made elsewhere, in the form used by an authorised contract to put the claim on chain.
/// @param program The program's header and roots.
/// @param inputRoots The tensor root of each input, as in `JobRequest`.
/// @param inputs The bytes of each input, as in `JobRequest`; they let everybody judge the claim. An empty array: none;
/// then the claim protects only holders of the inputs.
/// @param items How often the program is executed, 1 to 65,536.
/// @param firstItem The value that an index input has in the first item.
/// @param answer Whether the claim consists of the outputs' roots. Otherwise the claim consists of the items' trace
/// roots.
/// @param worker The claim's worker.
/// @param requester The account for which the claim was made.
/// @param root The claim's root.
/// @param issued When the worker made the claim, unix time.
/// @param salt Distinguishes otherwise equal claims from an authorised contract.
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

/// @notice The statement that a worker signs (EIP-712) with an answer: that these outputs are right.
/// @param worker The signer.
/// @param payer The account for which the worker makes the claim. The payer may sign a ticket about the claim.
/// @param programRoot The executed program.
/// @param inputsRoot Merkle list of the inputs' roots; zero for a program without inputs.
/// @param items How often the program was executed.
/// @param firstItem The value that an index input had in the first item.
/// @param number The worker's number for the claim. Distinguishes otherwise equal claims.
/// @param issued When the claim was signed, unix time.
/// @param root Merkle list of the outputs' roots, as in a job's answer.
/// @param secretHash `keccak256(abi.encode(secret))` of 32 random bytes that only the worker knows. Together with the
/// payer's ticket, the secret decides whether the ticket wins.
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
struct ClaimEvidence {
    ProgramFacts program;
    bytes32[] inputRoots;
    bytes[] inputs;
    bytes nodes;
}

/// @notice The promise that a payer signs (EIP-712) after receiving the answer: a chance of payment.
/// @param claim EIP-712 digest of the worker's signed claim.
/// @param face Payment for a winning ticket, smallest units of the stake asset.
/// @param odds The ticket wins if `keccak256(abi.encode(secret, digest of the ticket))` is below this number out of
/// 2^256.
/// @param expiry Until when the ticket can be cashed, unix time.
/// @param nonce 32 random bytes of the payer.
// solhint-disable-next-line gas-struct-packing
struct Ticket {
    bytes32 claim;
    uint128 face;
    uint256 odds;
    uint64 expiry;
    bytes32 nonce;
}
