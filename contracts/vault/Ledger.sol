// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IStakeVault} from "../interfaces/IStakeVault.sol";

/// @title Ledger entries of the vault: each takes an amount from one number to add it to another, or reverts.
/// @dev Pure arithmetic, checked by solc's SMTChecker (test/contracts/smt/LedgerProofs.sol): no entry makes or loses
/// money, locked stays within staked, and a reduced number never grows and therefore still fits its field.
library Ledger {
    /// @notice Takes from an account's credit.
    function debit(address account, uint256 credit, uint256 amount) internal pure returns (uint256) {
        require(amount <= credit, IStakeVault.InsufficientCredit(account, credit, amount));
        return credit - amount;
    }

    /// @notice Takes from custody.
    function release(uint256 custody, uint256 amount) internal pure returns (uint256) {
        // INVARIANT: jobs and games are paid from what was taken for jobs and games, never from others' credit or
        // stake.
        require(amount <= custody, IStakeVault.InsufficientCustody(custody, amount));
        return custody - amount;
    }

    /// @notice Takes from unlocked stake, to withdraw it.
    function unstake(address account, uint256 staked, uint256 locked, uint256 amount) internal pure returns (uint256) {
        // INVARIANT: locked <= staked. What backs a claim stays.
        _requireFree(account, staked, locked, amount);
        return staked - amount;
    }

    /// @notice Locks free stake.
    function lock(address account, uint256 staked, uint256 locked, uint256 amount) internal pure returns (uint256) {
        // INVARIANT: locked <= staked: all of a worker's claims can die at once.
        _requireFree(account, staked, locked, amount);
        return locked + amount;
    }

    /// @notice Unlocks stake; a slash takes the same amount from the stake.
    function unlock(address account, uint256 locked, uint256 amount) internal pure returns (uint256) {
        require(amount <= locked, IStakeVault.InsufficientLocked(account, locked, amount));
        return locked - amount;
    }

    function _requireFree(address account, uint256 staked, uint256 locked, uint256 amount) private pure {
        uint256 freeStake = staked - locked;
        require(amount <= freeStake, IStakeVault.InsufficientFreeStake(account, freeStake, amount));
    }
}
