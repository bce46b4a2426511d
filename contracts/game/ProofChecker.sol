// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IProofChecker} from "../interfaces/IProofChecker.sol";
import {IStepVerifier} from "../interfaces/IStepVerifier.sol";
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
        exact = verifier.evaluate(proof.body, proof.element, roots, proof.openings) & mask;
        step = s.step;
    }

    /// @inheritdoc IProofChecker
    function semantics() external pure returns (uint256) {
        return SEMANTICS;
    }
}
