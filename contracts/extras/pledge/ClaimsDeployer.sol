// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../../interfaces/IDisputeGame.sol";
import {Authoriser} from "../../interfaces/IPledgedClaims.sol";
import {IStakeVault} from "../../interfaces/IStakeVault.sol";
import {Parameters} from "../../types/Parameters.sol";

/// @title Reserves the address of pledged claims, so that their vault, their game and the contracts that may put claims
/// on chain can be deployed before and name it.
/// @dev A contract's first creation has a known address (nonce 1, EIP-161), whatever else its deployer sends in
/// between.
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
    /// @dev Reverts with `NotOwner`, `AlreadyDeployed` or `NothingDeployed`, and as their constructor does.
    /// @param creationCode Their creation code, without arguments.
    /// @param vault Their vault, which names the reserved address as its market.
    /// @param game Their game, likewise.
    /// @param authorisers The contracts that may put claims on chain.
    /// @param sink Who receives what is owed to nobody.
    /// @param p Their parameters; the sink there is the reserved address.
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
                // What the constructor says. Memory is not used after this.
                let free := mload(0x40)
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
        }
        // SAFETY: a creation that leaves no code, or lands elsewhere, is undone: else the address would be used up.
        require(claims.code.length != 0, NothingDeployed(claims));
        emit ClaimsDeployed(claims);
    }
}
