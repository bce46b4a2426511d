// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {Parameters} from "../types/Parameters.sol";

/// @title Reserves the address of a market. Its vault and game can then be deployed before the market and name it.
/// @dev The three contracts know each other for good and do not fit one transaction. A contract's first creation has a
/// known address (nonce 1, EIP-161), whatever else the contract's deployer sends in between.
contract MarketDeployer {
    error NotOwner(address caller, address owner);
    error AlreadyDeployed(address market);
    error NothingDeployed(address market);

    event MarketDeployed(address indexed market);

    /// @notice Who reserved the address: only that account may deploy there.
    address public immutable owner;
    /// @notice The reserved address.
    address public immutable market;

    constructor() {
        owner = msg.sender;
        // RLP of the list of this address and 1.
        market = address(uint160(uint256(keccak256(abi.encodePacked(hex"d694", address(this), hex"01")))));
    }

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
        require(msg.sender == owner, NotOwner(msg.sender, owner));
        require(market.code.length == 0, AlreadyDeployed(market));
        bytes memory code = abi.encodePacked(creationCode, abi.encode(vault, game, extension, p));
        assembly ("memory-safe") {
            if iszero(create(0, add(code, 0x20), mload(code))) {
                // Forward the revert data of the market's constructor. Memory is not used after this.
                let free := mload(0x40)
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
        }
        // SAFETY: revert a creation that leaves no code or has another address: otherwise the reserved address would be
        // used up.
        require(market.code.length != 0, NothingDeployed(market));
        emit MarketDeployed(market);
    }
}
