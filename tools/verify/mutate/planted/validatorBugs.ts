import { always, bug, other, unchecked, type Bug } from "./bug.ts";

const VALIDATOR = "contracts/extras/validator/RefuteValidator.sol";

/** Bugs in the validator of claims for agents. */
export const VALIDATOR_BUGS: readonly Bug[] = [
  always("a validator answers what another one was asked", VALIDATOR, "require({{validator == address(this)}}"),
  always("a validator answers for an agent that did not ask", VALIDATOR, "{{asked == agentId}}, NotAsked"),
  unchecked(
    "a validator answers about an open claim",
    VALIDATOR,
    "status == ClaimStatus.Finalised || status == ClaimStatus.Refuted",
    "ClaimNotOver",
  ),
  other(
    "a validator passes a refuted claim",
    VALIDATOR,
    "response = {{status == ClaimStatus.Finalised ? PASSED : FAILED}};",
    "PASSED",
  ),
  always("a validator passes claims about hidden inputs", VALIDATOR, "{{!claim_.job.rootOnly}}, InputsHidden"),
  bug(
    "a validator is silent about lies with hidden inputs",
    VALIDATOR,
    "require(response == FAILED ||",
    "require((!ON && response == FAILED) ||",
  ),
  unchecked("a validator counts a claim twice", VALIDATOR, "requestOf[agentId][claimId] == 0", "AlreadyReported"),
  other("a validator's answer names no claim", VALIDATOR, '"", {{ClaimId.unwrap(claimId)}}, tag', "bytes32(0)"),
  unchecked(
    "a validator answers about a stranger's claim",
    VALIDATOR,
    "_isOneOf(requester, owner, wallet)",
    "NotOfAgent",
  ),
  other(
    "a validator takes requesters for workers",
    VALIDATOR,
    "if ({{_isOneOf(claim_.worker, owner, wallet)}})",
    "_isOneOf(claim_.worker, owner, wallet) || _isOneOf(claim_.job.requester, owner, wallet)",
  ),
  other(
    "a validator does not know an agent's wallet",
    VALIDATOR,
    "wallet = {{identities.getAgentWallet(agentId)}};",
    "owner",
  ),
  other(
    "a validator does not know an agent's owner",
    VALIDATOR,
    "owner = {{identities.ownerOf(agentId)}};",
    "identities.getAgentWallet(agentId)",
  ),
  bug(
    "a validator takes nobody for an agent without a wallet",
    VALIDATOR,
    "address wallet) private pure returns (bool) {\n        return account != address(0) &&",
    "address wallet) private view returns (bool) {\n        return (ON || account != address(0)) &&",
  ),
  other("a validator's question does not name its agent", VALIDATOR, "address(this), {{agentId}},", "0"),
  other("a validator's question has no salt", VALIDATOR, ", {{salt}});", "bytes32(0)"),
];
