// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {IPledgedClaims} from "../../interfaces/IPledgedClaims.sol";
import {ITickets} from "../../interfaces/ITickets.sol";
import {Inputs} from "../../market/Inputs.sol";
import {ProgramProofs} from "../../program/ProgramProofs.sol";
import {IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {ClaimId} from "../../types/Ids.sol";
import {ProgramFacts} from "../../types/Program.sol";
import {ClaimEvidence, PledgedEntry, SignedClaim} from "../../types/SignedClaim.sol";

/// @title Puts a worker's signed claim on chain.
abstract contract SignedClaims is ITickets, EIP712 {
    using ProgramProofs for ProgramFacts;

    // Hashed by the compiler.
    // solhint-disable gas-small-strings
    bytes32 private constant CLAIM_TYPE = keccak256(
        "SignedClaim(address worker,address payer,bytes32 programRoot,bytes32 inputsRoot,uint32 items,"
        "uint32 firstItem,uint64 number,uint64 issued,bytes32 root,bytes32 secretHash)"
    );
    // solhint-enable gas-small-strings

    /// @inheritdoc ITickets
    IPledgedClaims public immutable claims;

    /// @inheritdoc ITickets
    mapping(bytes32 digest => ClaimId) public claimIdOf;

    constructor(IPledgedClaims claims_) EIP712("Refute tickets", "1") {
        claims = claims_;
    }

    /// @inheritdoc ITickets
    function submitSigned(
        SignedClaim calldata claim,
        bytes calldata signature,
        ClaimEvidence calldata evidence
    ) public returns (ClaimId claimId) {
        bytes32 digest = claimDigest(claim);
        require(claimIdOf[digest] == ClaimId.wrap(0), AlreadyOnChain(digest));
        _requireSigner(digest, signature, claim.worker);
        // SAFETY: the worker signed the roots only. The data submitted with the claim must match these roots.
        bytes32 programRoot = evidence.program.root();
        require(programRoot == claim.programRoot, IMarketEvents.WrongProgram(claim.programRoot, programRoot));
        bytes32 inputsRoot = Inputs.listRoot(evidence.inputRoots);
        require(inputsRoot == claim.inputsRoot, WrongClaim(inputsRoot, claim.inputsRoot));
        PledgedEntry memory entry = PledgedEntry({
            program: evidence.program,
            inputRoots: evidence.inputRoots,
            inputs: evidence.inputs,
            items: claim.items,
            firstItem: claim.firstItem,
            answer: true,
            worker: claim.worker,
            requester: claim.payer,
            root: claim.root,
            issued: claim.issued,
            salt: digest
        });
        // The pledged claims call nobody back: nothing else runs between this call and the writes after it.
        claimId = claims.enter(entry, evidence.nodes);
        claimIdOf[digest] = claimId;
        emit SignedClaimSubmitted(digest, claimId, claim.worker, claim.payer);
    }

    /// @inheritdoc ITickets
    function claimDigest(SignedClaim calldata claim) public view returns (bytes32) {
        // All fields have a fixed size, and the struct's words therefore equal EIP-712's.
        return _hashTypedDataV4(keccak256(abi.encode(CLAIM_TYPE, claim)));
    }

    /// @dev SAFETY: `recover` refuses signatures with s in the upper half.
    function _requireSigner(bytes32 digest, bytes calldata signature, address expected) internal pure {
        address signer = ECDSA.recover(digest, signature);
        require(signer == expected, WrongSigner(signer, expected));
    }
}
