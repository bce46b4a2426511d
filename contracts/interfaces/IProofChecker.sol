// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IStepVerifier} from "./IStepVerifier.sol";
import {PackedState, StepProof} from "../types/GameState.sol";
import {Claim} from "../types/Job.sol";

/// @title Checks the data behind a step proof, and recomputes the element.
/// @dev Stateless: accepts the given state and claim. The game must check that both are current.
interface IProofChecker {
    /// @notice Returns the element that a proof concerns: the claimed value and the correct value. The arguments equal
    /// those of `IDisputeGame.prove`, and therefore the game can forward its calldata unchanged.
    /// @dev Reverts with the error of `IDisputeGame` for the unproven part, and as `IStepVerifier.evaluate`.
    /// @param state The game's state.
    /// @param claim The whole claim, with its job.
    /// @param proof The element, and the data that prove it.
    /// @return step The step whose tensor holds the element.
    /// @return claimed The element's bits as claimed.
    /// @return exact The bits that the step computes.
    function check(
        PackedState calldata state,
        Claim calldata claim,
        StepProof calldata proof
    ) external view returns (uint32 step, uint256 claimed, uint256 exact);

    /// @notice The contract that recomputes elements.
    /// @return Its address.
    function verifier() external view returns (IStepVerifier);

    /// @notice The version of the semantics that the checker follows.
    /// @return The version.
    function semantics() external view returns (uint256);
}
