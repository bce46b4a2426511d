// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";

/// @title Fees that a contract pays for others.
library Fees {
    using SafeERC20 for IERC20;

    error FeeNotArrived(uint256 fee, uint256 arrived);

    /// @notice Turns tokens of an account into this contract's credit. The account must have approved the tokens to
    /// this contract.
    /// @dev Reverts with `FeeNotArrived`, and as the asset does.
    /// @param vault The market's vault.
    /// @param asset The vault's asset.
    /// @param from The owner of the tokens.
    /// @param fee Smallest units of the asset.
    function collect(IStakeVault vault, IERC20 asset, address from, uint256 fee) internal {
        if (fee == 0) return;
        asset.safeTransferFrom(from, address(this), fee);
        asset.forceApprove(address(vault), fee);
        uint256 before = credit(vault);
        vault.deposit(address(this), fee);
        uint256 arrived = credit(vault) - before;
        // SAFETY: if an asset keeps a part of each transfer, the rest of the fee would be others' refunds.
        require(arrived == fee, FeeNotArrived(fee, arrived));
    }

    /// @notice This contract's credit.
    /// @param vault The market's vault.
    /// @return amount Smallest units of the asset.
    function credit(IStakeVault vault) internal view returns (uint256 amount) {
        (amount, , , , ) = vault.accountOf(address(this));
    }
}
