// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IAgentIdentities} from "../interfaces/IAgentIdentities.sol";
import {IAgentValidations} from "../interfaces/IAgentValidations.sol";

/// @title ERC-8004's identity registry, as far as its text says what a validator meets.
/// @dev A test gives wallets without their signatures.
contract AgentIdentities is ERC721("Agents", "AGENT"), IAgentIdentities {
    uint256 private _count;
    mapping(uint256 agentId => address) private _walletOf;

    function register() external returns (uint256 agentId) {
        agentId = _count++;
        _walletOf[agentId] = msg.sender;
        _mint(msg.sender, agentId);
    }

    function setWallet(uint256 agentId, address wallet) external {
        _walletOf[agentId] = wallet;
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        return _walletOf[agentId];
    }

    function ownerOf(uint256 agentId) public view override(ERC721, IAgentIdentities) returns (address) {
        return super.ownerOf(agentId);
    }

    /// @dev The ERC: a transfer removes the wallet.
    function _update(address to, uint256 agentId, address auth) internal override returns (address from) {
        from = super._update(to, agentId, auth);
        if (from != address(0)) delete _walletOf[agentId];
    }
}

/// @title ERC-8004's validation registry, written from the ERC's text.
contract AgentValidations is IAgentValidations {
    struct Request {
        address validator;
        uint256 agentId;
        uint8 response;
        bytes32 responseHash;
        string tag;
        uint256 lastUpdate;
        bool isAnswered;
    }

    error Refused(string reason);

    event ValidationRequest(
        address indexed validatorAddress,
        uint256 indexed agentId,
        string requestURI,
        bytes32 indexed requestHash
    );
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    AgentIdentities private immutable _identities;
    mapping(bytes32 requestHash => Request) private _requests;
    mapping(uint256 agentId => bytes32[]) private _requestsOf;

    constructor(AgentIdentities identities) {
        _identities = identities;
    }

    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external {
        address owner = _identities.ownerOf(agentId);
        bool isAllowed =
            msg.sender == owner ||
                _identities.isApprovedForAll(owner, msg.sender) ||
                _identities.getApproved(agentId) == msg.sender;
        require(isAllowed, Refused("neither owner nor operator"));
        Request storage request = _requests[requestHash];
        require(request.validator == address(0), Refused("the hash is taken"));
        (request.validator, request.agentId, request.lastUpdate) = (validatorAddress, agentId, block.timestamp);
        _requestsOf[agentId].push(requestHash);
        emit ValidationRequest(validatorAddress, agentId, requestURI, requestHash);
    }

    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Request storage request = _known(requestHash);
        require(msg.sender == request.validator, Refused("not the validator"));
        require(response <= 100, Refused("above 100"));
        (request.response, request.responseHash, request.tag) = (response, responseHash, tag);
        (request.lastUpdate, request.isAnswered) = (block.timestamp, true);
        uint256 agentId = request.agentId;
        emit ValidationResponse(msg.sender, agentId, requestHash, response, responseURI, responseHash, tag);
    }

    function getValidationStatus(
        bytes32 requestHash
    ) external view returns (address, uint256, uint8, bytes32, string memory, uint256) {
        Request storage r = _known(requestHash);
        return (r.validator, r.agentId, r.response, r.responseHash, r.tag, r.lastUpdate);
    }

    function getSummary(
        uint256 agentId,
        address[] calldata validatorAddresses,
        string calldata tag
    ) external view returns (uint64 count, uint8 averageResponse) {
        uint256 sum = 0;
        for (uint256 k = 0; k < _requestsOf[agentId].length; ++k) {
            Request storage request = _requests[_requestsOf[agentId][k]];
            bool counts = validatorAddresses.length == 0;
            for (uint256 v = 0; v < validatorAddresses.length; ++v)
                counts = counts || validatorAddresses[v] == request.validator;
            if (bytes(tag).length != 0 && keccak256(bytes(tag)) != keccak256(bytes(request.tag))) counts = false;
            if (!counts || !request.isAnswered) continue;
            sum += request.response;
            ++count;
        }
        if (count != 0) averageResponse = uint8(sum / count);
    }

    function getIdentityRegistry() external view returns (address) {
        return address(_identities);
    }

    function _known(bytes32 requestHash) private view returns (Request storage request) {
        request = _requests[requestHash];
        require(request.validator != address(0), Refused("unknown request"));
    }
}
