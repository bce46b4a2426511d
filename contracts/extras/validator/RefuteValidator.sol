// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";
import {IAgentIdentities} from "../../interfaces/IAgentIdentities.sol";
import {IAgentValidations} from "../../interfaces/IAgentValidations.sol";
import {IClaimContract} from "../../interfaces/IClaimContract.sol";
import {ClaimStatus} from "../../interfaces/IMarketEvents.sol";
import {IRefuteValidator} from "../../interfaces/IRefuteValidator.sol";
import {ClaimId} from "../../types/Ids.sol";
import {Claim, ClaimKey, JobIds} from "../../types/Job.sol";

/// @title A validator for ERC-8004. See IRefuteValidator.
contract RefuteValidator is IRefuteValidator {
    uint8 private constant PASSED = 100;
    uint8 private constant FAILED = 0;

    /// @inheritdoc IRefuteValidator
    IAgentValidations public immutable registry;
    /// @inheritdoc IRefuteValidator
    IClaimContract public immutable claims;

    /// @inheritdoc IRefuteValidator
    mapping(uint256 agentId => mapping(ClaimId => bytes32)) public requestOf;

    /// @dev Reverts with `NoCode`.
    /// @param registry_ ERC-8004's validation registry.
    /// @param claims_ The contract whose claims count.
    constructor(IAgentValidations registry_, IClaimContract claims_) {
        require(address(registry_).code.length != 0, NoCode(address(registry_)));
        require(address(claims_).code.length != 0, NoCode(address(claims_)));
        registry = registry_;
        claims = claims_;
    }

    /// @inheritdoc IRefuteValidator
    function report(uint256 agentId, Claim calldata claim_, bytes32 salt) external returns (uint8 response) {
        // SAFETY: the hash binds chain, validator, agent and claim: an answer cannot be moved to another question.
        bytes32 requestHash = keccak256(payloadOf(agentId, claim_, salt));
        (address validator, uint256 asked, , , , ) = registry.getValidationStatus(requestHash);
        require(validator == address(this) && asked == agentId, NotAsked(requestHash, validator, asked));
        string memory role = _roleOf(agentId, claim_);
        ClaimKey memory key = ClaimKey({
            jobId: claims.jobIdOf(claim_.job),
            worker: claim_.worker,
            root: claim_.root,
            collateral: claim_.collateral
        });
        ClaimId claimId = JobIds.claimId(key.jobId, key.worker, key.root, key.collateral);
        (ClaimStatus status, ) = claims.claimStatus(key);
        // INVARIANT: only a final claim passes, and only a refuted claim fails.
        require(status == ClaimStatus.Finalised || status == ClaimStatus.Refuted, ClaimNotOver(claimId, status));
        response = status == ClaimStatus.Finalised ? PASSED : FAILED;
        // SAFETY: nobody but the parties could dispute a claim about hidden inputs. One who plays both parties would
        // make any root final.
        require(response == FAILED || !claim_.job.rootOnly, InputsHidden(claimId));
        // INVARIANT: a claim counts once in an agent's summary. Noted before the registry is called.
        require(requestOf[agentId][claimId] == 0, AlreadyReported(agentId, claimId));
        requestOf[agentId][claimId] = requestHash;
        emit Reported(agentId, claimId, requestHash, response);
        string memory tag = string.concat(role, Strings.toHexString(uint256(claim_.job.programRoot), 32));
        registry.validationResponse(requestHash, response, "", ClaimId.unwrap(claimId), tag);
    }

    /// @inheritdoc IRefuteValidator
    function payloadOf(uint256 agentId, Claim calldata claim_, bytes32 salt) public view returns (bytes memory) {
        return abi.encode(block.chainid, address(this), agentId, claim_, salt);
    }

    /// @dev Requires that a claim is an agent's. Returns the beginning of the answer's tag.
    function _roleOf(uint256 agentId, Claim calldata claim_) private view returns (string memory) {
        IAgentIdentities identities = IAgentIdentities(registry.getIdentityRegistry());
        address owner = identities.ownerOf(agentId);
        address wallet = identities.getAgentWallet(agentId);
        address requester = claim_.job.requester;
        if (_isOneOf(claim_.worker, owner, wallet)) return "refute:worker:";
        require(_isOneOf(requester, owner, wallet), NotOfAgent(agentId, claim_.worker, requester));
        return "refute:requester:";
    }

    /// @dev SAFETY: an agent without a wallet has the zero address, which a signed claim may name as its payer.
    function _isOneOf(address account, address owner, address wallet) private pure returns (bool) {
        return account != address(0) && (account == owner || account == wallet);
    }
}
