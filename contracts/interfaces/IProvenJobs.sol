// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId} from "../types/Ids.sol";
import {Claim, Job} from "../types/Job.sol";
import {Terms} from "../types/Terms.sol";
import {Delivery, IMarketEvents, Proof} from "./IMarketEvents.sol";

/// @title The market's calls about claims that a proof ends. Their code lives in a separate contract, which the market
/// runs as its own code: callers use the market's address.
interface IProvenJobs is IMarketEvents {
    /// @notice Ends a claim in its window by a proof: the claim is `Proven`, its fee is paid, the collateral is free.
    /// Anyone may call. Only under the key that the job's terms name, and while no game is open.
    /// @dev The key names the job's program. The outputs are right if the key's circuit is the program's and nobody
    /// knows the key's secrets: the market knows neither. Reverts with `WrongTerms`, `WrongClaimStatus`, `TimeIsUp`,
    /// `GamesOpen`, `WrongKey`, `KnownSecrets`, `FlawedKey`, `KeyOfAnotherProgram`, `NotProvable`, `WrongProgram`,
    /// `WrongOutputCount`, `WrongOutputLength`, `OutputsNotInClaim`, `WrongInputCount`, `WrongInputLength`,
    /// `InputsNotInJob` or `NotProven`.
    /// @param claim_ The whole claim.
    /// @param terms The job's terms.
    /// @param proof The proof, for the claim's worker.
    function finaliseByProof(Claim calldata claim_, Terms calldata terms, Proof calldata proof) external;

    /// @notice Takes a job (unless the caller has it already), submits and ends the claim by a proof, at once: nobody
    /// can open a game. A proof is for one worker, and so is of no use to others who see this call.
    /// @dev Reverts as `claimOnTerms`, `submitOnTerms` and `finaliseByProof`.
    /// @param job The whole job.
    /// @param terms The job's terms.
    /// @param nodes As in `submit`.
    /// @param proof The proof, for the caller.
    /// @return claimId The claim's id.
    function claimAndProve(
        Job calldata job,
        Terms calldata terms,
        bytes calldata nodes,
        Proof calldata proof
    ) external returns (ClaimId claimId);

    /// @notice Requires that an output belongs to a claim that was proven under a key. Whoever relies on such results
    /// pins the key, which names its program: the poster of a job chooses the key, and knows the secrets of its own
    /// keys.
    /// @dev Reverts with `WrongTerms`, `WrongKey`, `WrongClaimStatus`, `WrongProgram`, `WrongOutputLength` or
    /// `OutputNotInClaim`.
    /// @param claim_ The whole claim.
    /// @param terms The job's terms.
    /// @param keyHash The key that the caller trusts for the job's program.
    /// @param delivery The output, and its opening.
    function requireProven(
        Claim calldata claim_,
        Terms calldata terms,
        bytes32 keyHash,
        Delivery calldata delivery
    ) external view;
}
