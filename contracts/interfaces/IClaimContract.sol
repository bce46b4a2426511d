// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId, JobId} from "../types/Ids.sol";
import {Claim, ClaimKey, Job} from "../types/Job.sol";
import {IDisputeGame} from "./IDisputeGame.sol";
import {ClaimStatus} from "./IMarketEvents.sol";
import {IStakeVault} from "./IStakeVault.sol";

/// @title A contract with claims that a dispute game decides: the job market, or claims behind pledges. The game
/// holds no money itself: its calls move the money in the vault.
/// @dev The game's calls revert with `IMarketEvents.NotGame` for other callers.
interface IClaimContract {
    /// @notice Checks that a claim can be disputed, and takes the challenger's bond.
    /// @dev Reverts with `WrongClaimStatus`, `WindowClosed`, `IPledgedClaims.WorkerStopped`, or the vault's
    /// `InsufficientCredit`.
    /// @param jobId The claim's job.
    /// @param claimId The claim.
    /// @param challenger The account that opens the game.
    /// @param bond Smallest units of the stake asset.
    function gameOpened(JobId jobId, ClaimId claimId, address challenger, uint256 bond) external;

    /// @notice Credits an account from what the games hold. For pledged claims, an amount due to nobody returns to the
    /// refuted worker's pledge, for the worker's other games.
    /// @dev Reverts with the vault's `InsufficientCustody`.
    /// @param account Who is paid.
    /// @param amount Smallest units of the stake asset.
    function pay(address account, uint256 amount) external;

    /// @notice Refutes a claim: slashes what backs the claim into the games' custody. The market reopens the job. Of
    /// pledged claims, the first refuted one takes the worker's pledge and stops the worker.
    /// @dev Reverts with `WrongClaimStatus`.
    /// @param key The claim.
    /// @param claimId The claim's id, which the game has computed from the key.
    /// @return collateral The amount available to the claim's games, in smallest units of the stake asset.
    /// @return bounty The winner's part of the collateral: zero after a worker's first refuted claim behind a pledge.
    function refuted(ClaimKey calldata key, ClaimId claimId) external returns (uint256 collateral, uint256 bounty);

    /// @notice Ends a claim after its window if no open game disputes it. Anyone may call. Calls no foreign code.
    /// @dev Reverts with `WrongClaimStatus`, `WindowOpen`, `GamesOpen` or `IPledgedClaims.WorkerStopped`.
    /// @param claim_ The whole claim.
    function finalise(Claim calldata claim_) external;

    /// @notice The state of a claim.
    /// @param key The claim.
    /// @return status The claim's status.
    /// @return time End of the window; for a final claim, since when the claim is final, 0 if the fee was reclaimed
    /// (unix time). 0 for a claim of the market that was refuted.
    function claimStatus(ClaimKey calldata key) external view returns (ClaimStatus status, uint256 time);

    /// @notice Returns the id for a job with the given content in this contract.
    /// @param job The whole job.
    /// @return The id.
    function jobIdOf(Job calldata job) external view returns (JobId);

    /// @notice The vault that holds all money of claims and games.
    /// @return Its address.
    function vault() external view returns (IStakeVault);

    /// @notice The dispute game about these claims.
    /// @return Its address.
    function game() external view returns (IDisputeGame);
}
