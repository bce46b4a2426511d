// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The part of ERC-8004's identity registry that a validator reads.
interface IAgentIdentities {
    /// @notice The owner of an agent.
    /// @param agentId The agent.
    /// @return Its owner; reverts for an unknown agent.
    function ownerOf(uint256 agentId) external view returns (address);

    /// @notice The account that proved by a signature that it acts for an agent.
    /// @param agentId The agent.
    /// @return The account; zero if there is none.
    function getAgentWallet(uint256 agentId) external view returns (address);
}
