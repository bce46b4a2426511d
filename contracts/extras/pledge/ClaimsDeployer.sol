// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../../interfaces/IDisputeGame.sol";
import {Authoriser} from "../../interfaces/IPledgedClaims.sol";
import {IStakeVault} from "../../interfaces/IStakeVault.sol";
import {ReservedAddress} from "../../market/ReservedAddress.sol";
import {Parameters} from "../../types/Parameters.sol";

/// @title Reserves the address of pledged claims. Their vault, game and authorising contracts can then name the address
/// in advance.
contract ClaimsDeployer is ReservedAddress {
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
        _deploy(creationCode, abi.encode(vault, game, authorisers, sink, p));
    }
}
