// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IProofChecker} from "../interfaces/IProofChecker.sol";
import {ChunkOpening, IStepVerifier} from "../interfaces/IStepVerifier.sol";
import {GameState, Level, PackedState, StepProof} from "../types/GameState.sol";
import {Claim} from "../types/Job.sol";
import {SEMANTICS} from "../types/Semantics.sol";
import {Descent} from "./Descent.sol";
import {KnownStep} from "./KnownStep.sol";
import {States} from "./States.sol";
import {StepProofs} from "./StepProofs.sol";

/// @title Checks step proofs for a game. See IProofChecker.
contract ProofChecker is IProofChecker {
    using Descent for GameState;
    using States for PackedState;

    /// @dev The head of `evaluate`'s arguments, bytes; the roots begin there.
    uint256 private constant ARGUMENTS = 0x80;

    /// @inheritdoc IProofChecker
    IStepVerifier public immutable verifier;

    /// @dev Reverts with `KnownStep.NoCode`, `KnownStep.WrongSemantics` or `KnownStep.KnownStepFails`.
    constructor(IStepVerifier verifier_) {
        KnownStep.requireEvaluated(verifier_);
        verifier = verifier_;
    }

    /// @inheritdoc IProofChecker
    function check(
        PackedState calldata state,
        Claim calldata claim,
        StepProof calldata proof
    ) external view returns (uint32 step, uint256 claimed, uint256 exact) {
        GameState memory s = state.unpack();
        // A challenger that holds the worker's nodes goes down to the tensor and proves in one call.
        if (s.level != Level.Tensor) s.descend(proof.pick);
        require(s.level == Level.Tensor, IDisputeGame.NotAtTensor(s.level));
        uint256 mask;
        (claimed, mask) = StepProofs.claimedElement(s, proof);
        bytes32[] memory roots = StepProofs.inputRoots(s, claim, proof);
        exact = _evaluate(proof, roots) & mask;
        step = s.step;
    }

    /// @inheritdoc IProofChecker
    function semantics() external pure returns (uint256) {
        return SEMANTICS;
    }

    /// @dev Calls the verifier's `evaluate` with this call's bytes behind the arguments: body and openings are read
    /// there. Encoding openings again would cost more.
    // SAFETY: the verifier reads the body that `claimedElement` hashed, at the same place of the same bytes. Openings
    // are proven by the verifier itself, whatever bytes an opening's own offsets lead to.
    function _evaluate(StepProof calldata proof, bytes32[] memory roots) private view returns (uint256) {
        bytes calldata body = proof.body;
        ChunkOpening[] calldata openings = proof.openings;
        // The four arguments, the roots and their number come first.
        uint256 shift = ARGUMENTS + 0x20 + 0x20 * roots.length;
        uint256 bodyAt;
        uint256 openingsAt;
        assembly ("memory-safe") {
            // Each begins with its length, in the word before.
            bodyAt := add(shift, sub(body.offset, 0x20))
            openingsAt := add(shift, sub(openings.offset, 0x20))
        }
        bytes memory call = bytes.concat(
            abi.encodeWithSelector(IStepVerifier.evaluate.selector, bodyAt, proof.element, ARGUMENTS, openingsAt),
            abi.encodePacked(roots.length, roots),
            msg.data
        );
        return abi.decode(Address.functionStaticCall(address(verifier), call), (uint256));
    }
}
