// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";

/// @title Entries of the vault's ledger: each takes an amount from one number and adds it to another, or is refused.
/// @dev Pure arithmetic, checked by solc's SMTChecker (test/smt/LedgerProofs.sol): no entry makes or loses money, and locked stays within staked.
library Ledger {
    using SafeCast for uint256;

    /// @notice Adds to a credit.
    function add(uint128 credit, uint256 amount) internal pure returns (uint128) {
        return credit + amount.toUint128();
    }

    /// @notice Takes from an account's credit.
    function debit(address account, uint128 credit, uint256 amount) internal pure returns (uint128) {
        require(amount <= credit, IStakeVault.InsufficientCredit(account, credit, amount));
        return credit - uint128(amount);
    }

    /// @notice Takes from custody.
    function release(uint256 custody, uint256 amount) internal pure returns (uint256) {
        // INVARIANT: jobs and games are paid from what was taken for jobs and games, never from others' credit or stake.
        require(amount <= custody, IStakeVault.InsufficientCustody(custody, amount));
        return custody - amount;
    }

    /// @notice Moves free stake to what is being withdrawn.
    function request(
        address account,
        uint128 staked,
        uint128 locked,
        uint128 withdrawing,
        uint256 amount
    ) internal pure returns (uint128, uint128) {
        // INVARIANT: locked <= staked. What backs a claim stays.
        _requireFree(account, staked, locked, amount);
        return (staked - uint128(amount), withdrawing + uint128(amount));
    }

    /// @notice Locks free stake.
    function lock(address account, uint128 staked, uint128 locked, uint256 amount) internal pure returns (uint128) {
        // INVARIANT: locked <= staked, so that all claims of a worker can die at once.
        _requireFree(account, staked, locked, amount);
        return locked + uint128(amount);
    }

    /// @notice Unlocks stake.
    function unlock(address account, uint128 locked, uint256 amount) internal pure returns (uint128) {
        require(amount <= locked, IStakeVault.InsufficientLocked(account, locked, amount));
        return locked - uint128(amount);
    }

    /// @notice Takes locked stake.
    function slash(
        address account,
        uint128 staked,
        uint128 locked,
        uint256 amount
    ) internal pure returns (uint128, uint128) {
        locked = unlock(account, locked, amount);
        return (staked - uint128(amount), locked);
    }

    function _requireFree(address account, uint128 staked, uint128 locked, uint256 amount) private pure {
        uint256 freeStake = staked - locked;
        require(amount <= freeStake, IStakeVault.InsufficientFreeStake(account, freeStake, amount));
    }
}
