// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {Authoriser} from "../interfaces/IPledgedClaims.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {AddressReservation} from "../market/AddressReservation.sol";
import {Parameters} from "../types/Parameters.sol";

/// @title Reserves the address of pledged claims, so that their vault, their game and the contracts that may put claims
/// on chain can be deployed before and name it.
contract ClaimsDeployer is AddressReservation {
    event ClaimsDeployed(address indexed claims);

    /// @notice The reserved address.
    function claims() external view returns (address) {
        return _reserved;
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
        _create(abi.encodePacked(creationCode, abi.encode(vault, game, authorisers, sink, p)));
        emit ClaimsDeployed(_reserved);
    }
}
