// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The part of ERC-8004's validation registry that a validator and its askers use.
interface IAgentValidations {
    /// @notice Asks a validator about an agent. Only the agent's owner or operator may call, once for each hash.
    /// @param validatorAddress Who may answer.
    /// @param agentId The agent.
    /// @param requestURI Where the payload is.
    /// @param requestHash `keccak256` of the payload.
    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external;

    /// @notice Answers a request. Only the validator of the request may call, any number of times.
    /// @param requestHash The request.
    /// @param response 0 (failed) to 100 (passed).
    /// @param responseURI Where evidence is; may be empty.
    /// @param responseHash A hash of the evidence.
    /// @param tag By which summaries are filtered.
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external;

    /// @notice The state of a request. Reverts for an unknown request.
    /// @param requestHash The request.
    /// @return validatorAddress Who may answer.
    /// @return agentId The agent.
    /// @return response 0 to 100; also 0 while unanswered.
    /// @return responseHash As in the answer; zero while unanswered.
    /// @return tag As in the answer; empty while unanswered.
    /// @return lastUpdate Unix time of the request or of the last answer.
    function getValidationStatus(
        bytes32 requestHash
    )
        external
        view
        returns (
            address validatorAddress,
            uint256 agentId,
            uint8 response,
            bytes32 responseHash,
            string memory tag,
            uint256 lastUpdate
        );

    /// @notice Counts an agent's answered requests, and averages their answers.
    /// @param agentId The agent.
    /// @param validatorAddresses Whose answers count; empty: all.
    /// @param tag Only answers with this tag count; empty: all.
    /// @return count How many answers count.
    /// @return averageResponse Their average, rounded down; 0 without any.
    function getSummary(
        uint256 agentId,
        address[] calldata validatorAddresses,
        string calldata tag
    ) external view returns (uint64 count, uint8 averageResponse);

    /// @notice The identity registry whose agents these are.
    /// @return Its address.
    function getIdentityRegistry() external view returns (address);
}
