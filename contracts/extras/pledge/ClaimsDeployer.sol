// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../../interfaces/IDisputeGame.sol";
import {Authoriser} from "../../interfaces/IPledgedClaims.sol";
import {IStakeVault} from "../../interfaces/IStakeVault.sol";
import {Parameters} from "../../types/Parameters.sol";

/// @title Reserves the address of pledged claims. Their vault, game and authorising contracts can then name the address
/// in advance.
/// @dev A contract's first creation has a known address (nonce 1, EIP-161), whatever else the contract's deployer sends
/// in between.
contract ClaimsDeployer {
    error NotOwner(address caller, address owner);
    error AlreadyDeployed(address claims);
    error NothingDeployed(address claims);

    event ClaimsDeployed(address indexed claims);

    /// @notice Who reserved the address: only that account may deploy there.
    address public immutable owner;
    /// @notice The reserved address.
    address public immutable claims;

    constructor() {
        owner = msg.sender;
        // RLP of the list of this address and 1.
        claims = address(uint160(uint256(keccak256(abi.encodePacked(hex"d694", address(this), hex"01")))));
    }

    /// @notice Deploys the pledged claims at the reserved address.
    /// @dev Reverts with `NotOwner`, `AlreadyDeployed` or `NothingDeployed`, and as the claims' constructor does.
    /// @param creationCode The claims' creation code, without arguments.
    /// @param vault The claims' vault, naming the reserved address as market.
    /// @param game The claims' game, likewise.
    /// @param authorisers The contracts that may put claims on chain.
    /// @param sink The receiver of amounts owed to nobody.
    /// @param p The claims' parameters; their sink must be the reserved address.
    function deploy(
        bytes calldata creationCode,
        IStakeVault vault,
        IDisputeGame game,
        Authoriser[] calldata authorisers,
        address sink,
        Parameters calldata p
    ) external {
        require(msg.sender == owner, NotOwner(msg.sender, owner));
        require(claims.code.length == 0, AlreadyDeployed(claims));
        bytes memory code = abi.encodePacked(creationCode, abi.encode(vault, game, authorisers, sink, p));
        assembly ("memory-safe") {
            if iszero(create(0, add(code, 0x20), mload(code))) {
                // Forward the constructor's revert data. Memory is not used after this.
                let free := mload(0x40)
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
        }
        // SAFETY: revert a creation that leaves no code or has another address: otherwise the reserved address would be
        // used up.
        require(claims.code.length != 0, NothingDeployed(claims));
        emit ClaimsDeployed(claims);
    }
}
