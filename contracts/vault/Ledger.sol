// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IStakeVault} from "../interfaces/IStakeVault.sol";

/// @title What the vault's ledger takes from one number to add it to another, or refuses.
/// @dev Pure arithmetic, checked by solc's SMTChecker (test/contracts/smt/LedgerProofs.sol): no entry makes or loses
/// money, locked stays within staked, and no number that is taken from grows, so that it still fits its field.
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

    /// @notice Takes from stake that is not locked, to withdraw it.
    function unstake(address account, uint256 staked, uint256 locked, uint256 amount) internal pure returns (uint256) {
        // INVARIANT: locked <= staked. What backs a claim stays.
        _requireFree(account, staked, locked, amount);
        return staked - amount;
    }

    /// @notice Locks free stake.
    function lock(address account, uint256 staked, uint256 locked, uint256 amount) internal pure returns (uint256) {
        // INVARIANT: locked <= staked, so that all claims of a worker can die at once.
        _requireFree(account, staked, locked, amount);
        return locked + amount;
    }

    /// @notice Unlocks stake; a slash takes the same amount from what is staked.
    function unlock(address account, uint256 locked, uint256 amount) internal pure returns (uint256) {
        require(amount <= locked, IStakeVault.InsufficientLocked(account, locked, amount));
        return locked - amount;
    }

    function _requireFree(address account, uint256 staked, uint256 locked, uint256 amount) private pure {
        uint256 freeStake = staked - locked;
        require(amount <= freeStake, IStakeVault.InsufficientFreeStake(account, freeStake, amount));
    }
}
