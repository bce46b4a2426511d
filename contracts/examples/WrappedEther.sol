// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Ether as an ERC-20, for local chains. Public chains have their own; the protocol takes any plain ERC-20.
contract WrappedEther is ERC20("Wrapped Ether", "WETH") {
    error EtherNotSent(address to, uint256 amount);

    /// @notice Wraps the ether that is sent.
    function deposit() external payable {
        _mint(msg.sender, msg.value);
    }

    /// @notice Unwraps: burns the caller's tokens and sends the same amount in ether.
    /// @dev Reverts with `EtherNotSent` if the caller does not accept the ether.
    /// @param amount Wei.
    function withdraw(uint256 amount) external {
        _burn(msg.sender, amount);
        (bool sent, ) = msg.sender.call{value: amount}("");
        require(sent, EtherNotSent(msg.sender, amount));
    }
}
