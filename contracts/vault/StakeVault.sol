// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IProvisioning} from "../interfaces/IProvisioning.sol";
import {IStakeVault} from "../interfaces/IStakeVault.sol";
import {Ledger} from "./Ledger.sol";

/// @title The vault. See IStakeVault.
contract StakeVault is IStakeVault, ReentrancyGuard {
    using SafeERC20 for IERC20;
    using SafeCast for uint256;

    /// @dev An account's ledger, in smallest units of the asset; `readyAt` is a unix time. The worker's record: minutes
    /// since 1970 when stake began, refuted claims, missed deadlines. Counts stop at the largest value of their field.
    struct Account {
        uint128 credit;
        uint128 withdrawing;
        uint96 staked;
        uint96 locked;
        uint32 sinceMinute;
        uint16 refuted;
        uint16 late;
        uint64 readyAt;
    }

    /// @dev Decimals of the native token on every EVM chain.
    uint256 private constant NATIVE_DECIMALS = 18;

    /// @inheritdoc IStakeVault
    IERC20 public immutable asset;
    /// @inheritdoc IStakeVault
    address public immutable market;
    /// @inheritdoc IStakeVault
    IProvisioning public immutable provisioning;
    /// @inheritdoc IStakeVault
    uint256 public immutable withdrawalDelay;

    /// @inheritdoc IStakeVault
    uint256 public custody;
    mapping(address account => Account) private _accounts;

    modifier onlyMarket() {
        require(msg.sender == market, NotMarket(msg.sender));
        _;
    }

    /// @dev Reverts with `NoCode` or `NotWrappedNative`.
    /// @param asset_ The chain's wrapped native token: a game repays each unit of gas with one smallest token unit per
    /// wei. The constructor can check the token's 18 decimals, but not its price.
    /// @param provisioning_ Decides who may stake.
    /// @param withdrawalDelay_ Seconds between requesting and receiving a withdrawal of stake.
    /// @param market_ The market, the vault's only operator, deployed after this vault. The market's constructor checks
    /// the vault.
    constructor(IERC20Metadata asset_, IProvisioning provisioning_, uint256 withdrawalDelay_, address market_) {
        require(address(asset_).code.length != 0, NoCode(address(asset_)));
        require(address(provisioning_).code.length != 0, NoCode(address(provisioning_)));
        uint256 decimals = asset_.decimals();
        require(decimals == NATIVE_DECIMALS, NotWrappedNative(address(asset_), decimals));
        asset = asset_;
        provisioning = provisioning_;
        withdrawalDelay = withdrawalDelay_;
        market = market_;
    }

    /// @inheritdoc IStakeVault
    // SAFETY: nonReentrant, because a token that calls back between the two balance readings would be counted twice.
    function deposit(address account, uint256 amount) external nonReentrant {
        require(account != address(0), ZeroAddress());
        require(amount != 0, ZeroAmount());
        uint256 before = asset.balanceOf(address(this));
        asset.safeTransferFrom(msg.sender, address(this), amount);
        uint256 arrived = asset.balanceOf(address(this)) - before;
        _accounts[account].credit += arrived.toUint128();
        emit Deposited(msg.sender, account, arrived);
    }

    /// @inheritdoc IStakeVault
    function withdraw(uint256 amount, address to) external nonReentrant {
        require(amount != 0, ZeroAmount());
        require(to != address(0), ZeroAddress());
        _debit(msg.sender, amount);
        emit Withdrawn(msg.sender, to, amount);
        asset.safeTransfer(to, amount);
    }

    /// @inheritdoc IStakeVault
    function stake(uint256 amount) external {
        require(amount != 0, ZeroAmount());
        require(provisioning.isLive(msg.sender), NotLive(msg.sender));
        _debit(msg.sender, amount);
        Account storage a = _accounts[msg.sender];
        if (a.staked == 0) a.sinceMinute = uint32(block.timestamp / 1 minutes);
        a.staked += amount.toUint96();
        emit Staked(msg.sender, amount);
    }

    /// @inheritdoc IStakeVault
    function requestWithdraw(uint256 amount) external {
        require(amount != 0, ZeroAmount());
        Account storage a = _accounts[msg.sender];
        a.staked = uint96(Ledger.unstake(msg.sender, a.staked, a.locked, amount));
        a.withdrawing += uint128(amount);
        a.readyAt = uint64(block.timestamp + withdrawalDelay);
        emit WithdrawalRequested(msg.sender, amount, a.readyAt);
    }

    /// @inheritdoc IStakeVault
    function unstake() external {
        Account storage a = _accounts[msg.sender];
        uint128 amount = a.withdrawing;
        require(amount != 0, NothingRequested(msg.sender));
        require(block.timestamp >= a.readyAt, WithdrawalNotReady(a.readyAt));
        a.withdrawing = 0;
        a.readyAt = 0;
        a.credit += amount;
        emit Unstaked(msg.sender, amount);
    }

    /// @inheritdoc IStakeVault
    function take(address account, uint256 amount) external onlyMarket {
        _debit(account, amount);
        custody += amount;
        emit Taken(account, amount);
    }

    /// @inheritdoc IStakeVault
    function give(address account, uint256 amount) external onlyMarket {
        custody = Ledger.release(custody, amount);
        _accounts[account].credit += amount.toUint128();
        emit Given(account, amount);
    }

    /// @inheritdoc IStakeVault
    function lock(address account, uint256 amount) external onlyMarket {
        Account storage a = _accounts[account];
        a.locked = uint96(Ledger.lock(account, a.staked, a.locked, amount));
        emit Locked(account, amount);
    }

    /// @inheritdoc IStakeVault
    function unlock(address account, uint256 amount) external onlyMarket {
        Account storage a = _accounts[account];
        a.locked = uint96(Ledger.unlock(account, a.locked, amount));
        emit Unlocked(account, amount);
    }

    /// @inheritdoc IStakeVault
    function slash(address account, uint256 amount, bool late) external onlyMarket {
        Account storage a = _accounts[account];
        a.locked = uint96(Ledger.unlock(account, a.locked, amount));
        a.staked -= uint96(amount);
        if (late) a.late = _more(a.late);
        else a.refuted = _more(a.refuted);
        custody += amount;
        emit Slashed(account, amount);
    }

    /// @inheritdoc IStakeVault
    function accountOf(
        address account
    ) external view returns (uint256 credit, uint256 staked, uint256 locked, uint256 withdrawing, uint256 readyAt) {
        Account storage a = _accounts[account];
        return (a.credit, a.staked, a.locked, a.withdrawing, a.readyAt);
    }

    /// @inheritdoc IStakeVault
    function recordOf(address worker) external view returns (uint256 since, uint256 refuted, uint256 late) {
        Account storage a = _accounts[worker];
        return (uint256(a.sinceMinute) * 1 minutes, a.refuted, a.late);
    }

    /// @dev One more, if the field holds it.
    function _more(uint16 count) private pure returns (uint16) {
        return count == type(uint16).max ? count : count + 1;
    }

    /// @dev Takes from an account's credit.
    function _debit(address account, uint256 amount) private {
        Account storage a = _accounts[account];
        a.credit = uint128(Ledger.debit(account, a.credit, amount));
    }
}
