// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {Parameters} from "../types/Parameters.sol";
import {ReservedAddress} from "./ReservedAddress.sol";

/// @title Reserves the address of a market. Its vault and game can then be deployed before the market and name it.
contract MarketDeployer is ReservedAddress {
    /// @notice Deploys the market at the reserved address.
    /// @dev Reverts with `NotOwner`, `AlreadyDeployed` or `NothingDeployed`, and as the market's constructor does.
    /// @param creationCode The market's creation code, without arguments.
    /// @param vault The market's vault, naming the reserved address as market.
    /// @param game The market's game, likewise.
    /// @param extension The code of the market's rare calls.
    /// @param p The market's parameters.
    function deploy(
        bytes calldata creationCode,
        IStakeVault vault,
        IDisputeGame game,
        address extension,
        Parameters calldata p
    ) external {
        _deploy(creationCode, abi.encode(vault, game, extension, p));
    }
}
