// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ledger} from "../../../contracts/vault/Ledger.sol";

/// @notice The vault's ledger, an entry at a time: from any state in which locked <= staked, each entry that is not
/// refused leads to such a state, and what it takes from one number it adds to another. So by induction the vault owes
/// what was deposited less what was withdrawn.
contract LedgerProofs {
    /// @dev Never used. A state variable of this kind keeps z3 on the one of its solvers that runs inside solc's WASM.
    mapping(uint256 => uint256) private _unused;

    /// @dev `stake`: credit to stake.
    function stake(address account, uint128 credit, uint128 staked, uint128 locked, uint128 amount) external pure {
        require(locked <= staked);
        uint256 newCredit = Ledger.debit(account, credit, amount);
        uint256 newStaked = uint256(staked) + amount;
        assert(newCredit <= credit);
        assert(newCredit + newStaked == uint256(credit) + staked);
        assert(locked <= newStaked);
    }

    /// @dev `requestWithdraw`: free stake to withdrawing.
    function requestWithdraw(
        address account,
        uint128 staked,
        uint128 locked,
        uint128 withdrawing,
        uint256 amount
    ) external pure {
        require(locked <= staked);
        uint256 newStaked = Ledger.unstake(account, staked, locked, amount);
        assert(newStaked <= staked && amount <= staked);
        assert(newStaked + (withdrawing + amount) == uint256(staked) + withdrawing);
        assert(locked <= newStaked);
    }

    /// @dev `withdraw` takes from credit what it sends; `take`: credit to custody.
    function take(address account, uint128 credit, uint128 custody, uint256 amount) external pure {
        uint256 newCredit = Ledger.debit(account, credit, amount);
        assert(newCredit <= credit && amount <= credit);
        assert(newCredit + (custody + amount) == uint256(credit) + custody);
    }

    /// @dev `give`: custody to credit.
    function give(uint128 credit, uint256 custody, uint128 amount) external pure {
        require(custody < 2 ** 192);
        uint256 newCustody = Ledger.release(custody, amount);
        assert(newCustody <= custody);
        assert(newCustody + (uint256(credit) + amount) == custody + credit);
    }

    /// @dev `lock`: money stays where it is, and what is locked fits the field of what is staked.
    function lock(address account, uint128 staked, uint128 locked, uint256 amount) external pure {
        require(locked <= staked);
        uint256 newLocked = Ledger.lock(account, staked, locked, amount);
        assert(newLocked == locked + amount);
        assert(newLocked <= staked);
    }

    /// @dev `unlock`.
    function unlock(address account, uint128 staked, uint128 locked, uint256 amount) external pure {
        require(locked <= staked);
        uint256 newLocked = Ledger.unlock(account, locked, amount);
        assert(newLocked + amount == locked);
        assert(newLocked <= staked);
    }

    /// @dev `slash`: stake to custody. What is locked can be slashed: it is there.
    function slash(address account, uint128 staked, uint128 locked, uint128 custody, uint256 amount) external pure {
        require(locked <= staked);
        uint256 newLocked = Ledger.unlock(account, locked, amount);
        uint256 newStaked = staked - amount;
        assert(newStaked <= staked);
        assert(newStaked + (custody + amount) == uint256(staked) + custody);
        assert(newLocked <= newStaked);
    }
}
