// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId} from "../types/Ids.sol";
import {Claim} from "../types/Job.sol";
import {IAgentValidations} from "./IAgentValidations.sol";
import {IClaimContract} from "./IClaimContract.sol";
import {ClaimStatus} from "./IMarketEvents.sol";

/// @title A validator for ERC-8004's validation registry, without an owner. The validator answers about claims of one
/// contract: 100 for a final claim, 0 for a refuted claim, and nothing before.
/// @dev A request names one claim, and thereby program, inputs, worker and root. Its payload is
/// `abi.encode(chainid, this contract, agentId, claim, salt)`, its hash the payload's `keccak256`. The claim's worker
/// or requester must be the agent's wallet or owner at the time of the report. The answer's `responseHash` is the
/// claim's id, never zero. The answer's tag is `refute:worker:` or `refute:requester:` with the program root as 0x and
/// 64 lowercase digits: a summary by a tag counts results of that program only.
interface IRefuteValidator {
    error NoCode(address account);
    error NotAsked(bytes32 requestHash, address validator, uint256 agentId);
    error NotOfAgent(uint256 agentId, address worker, address requester);
    error ClaimNotOver(ClaimId claimId, ClaimStatus status);
    error InputsHidden(ClaimId claimId);
    error AlreadyReported(uint256 agentId, ClaimId claimId);

    event Reported(uint256 indexed agentId, ClaimId indexed claimId, bytes32 indexed requestHash, uint8 response);

    /// @notice Answers a request in the registry. Anyone may call, once for each agent and claim.
    /// @dev Reverts with `NotAsked`, `NotOfAgent`, `ClaimNotOver`, `InputsHidden` or `AlreadyReported`, and as the
    /// registries do for an unknown request or agent.
    /// @param agentId The agent.
    /// @param claim_ The whole claim.
    /// @param salt Distinguishes payloads: whoever takes a hash first in the registry does not block the claim.
    /// @return response 100 or 0.
    function report(uint256 agentId, Claim calldata claim_, bytes32 salt) external returns (uint8 response);

    /// @notice The payload of a request.
    /// @param agentId The agent.
    /// @param claim_ The whole claim.
    /// @param salt Any.
    /// @return The bytes whose hash the registry takes.
    function payloadOf(uint256 agentId, Claim calldata claim_, bytes32 salt) external view returns (bytes memory);

    /// @notice The request by which a claim was reported for an agent.
    /// @param agentId The agent.
    /// @param claimId The claim.
    /// @return Its hash; zero if the claim was not reported.
    function requestOf(uint256 agentId, ClaimId claimId) external view returns (bytes32);

    /// @notice The registry that gets the answers.
    /// @return Its address.
    function registry() external view returns (IAgentValidations);

    /// @notice The only contract whose claims count: a job market, or claims behind pledges.
    /// @return Its address.
    function claims() external view returns (IClaimContract);
}
