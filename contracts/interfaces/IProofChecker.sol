// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IStepVerifier} from "./IStepVerifier.sol";
import {PackedState, StepProof} from "../types/GameState.sol";
import {Claim} from "../types/Job.sol";

/// @title Checks what a step proof rests on, and recomputes its element.
/// @dev Stateless: it takes the state and the claim as they are given. That they are current is the game's to check.
interface IProofChecker {
    /// @notice The element that a proof is about, as the worker claims it and as it is. The arguments are those of
    /// `IDisputeGame.prove`, so that the game passes its calldata on as it came.
    /// @dev Reverts with the error of `IDisputeGame` that says what is not proven, and as `IStepVerifier.evaluate`.
    /// @param state The game's state.
    /// @param claim The whole claim, with its job.
    /// @param proof The element, and what it rests on.
    /// @return step The step whose tensor holds the element.
    /// @return claimed The element's bits as claimed.
    /// @return exact The bits that the step gives.
    function check(
        PackedState calldata state,
        Claim calldata claim,
        StepProof calldata proof
    ) external view returns (uint32 step, uint256 claimed, uint256 exact);

    /// @notice The contract that recomputes elements.
    /// @return Its address.
    function verifier() external view returns (IStepVerifier);

    /// @notice The version of the semantics that it checks by.
    /// @return The version.
    function semantics() external pure returns (uint256);
}
