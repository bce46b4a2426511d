// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IProvisioning} from "./IProvisioning.sol";

/// @title Holds the stake asset and keeps one ledger for everybody. The market moves ledger entries; tokens move only
/// in `deposit` and `withdraw`.
/// @dev Invariants: the vault's balance covers at least the sum of all credits, stakes, stakes being withdrawn, and the
/// market's custody; no account's locked stake exceeds its stake.
interface IStakeVault {
    error NotMarket(address caller);
    error ZeroAmount();
    error ZeroAddress();
    error InsufficientCredit(address account, uint256 credit, uint256 needed);
    error InsufficientFreeStake(address account, uint256 freeStake, uint256 needed);
    error InsufficientLocked(address account, uint256 locked, uint256 needed);
    error InsufficientCustody(uint256 custody, uint256 needed);
    error NotLive(address worker);
    error NothingRequested(address account);
    error WithdrawalNotReady(uint256 readyAt);
    error NoCode(address account);
    error NotWrappedNative(address asset, uint256 decimals);

    event Deposited(address indexed from, address indexed account, uint256 amount);
    event Withdrawn(address indexed account, address indexed to, uint256 amount);
    event Staked(address indexed account, uint256 amount);
    event WithdrawalRequested(address indexed account, uint256 amount, uint256 readyAt);
    event Unstaked(address indexed account, uint256 amount);
    event Taken(address indexed account, uint256 amount);
    event Given(address indexed account, uint256 amount);
    event Locked(address indexed account, uint256 amount);
    event Unlocked(address indexed account, uint256 amount);
    event Slashed(address indexed account, uint256 amount);

    /// @notice Pulls tokens from the caller and credits `account` with the amount received.
    /// @dev Reverts with `ZeroAmount` or `ZeroAddress`, and as the token does. All amounts in this interface are in
    /// smallest units of the asset.
    /// @param account The account to credit.
    /// @param amount The amount to pull.
    function deposit(address account, uint256 amount) external;

    /// @notice Sends free credit of the caller to any address.
    /// @dev Reverts with `ZeroAmount`, `ZeroAddress` or `InsufficientCredit`, and as the token does.
    /// @param amount What is sent.
    /// @param to Who gets it.
    function withdraw(uint256 amount, address to) external;

    /// @notice Turns the caller's credit into stake; the caller needs a live attestation.
    /// @dev Reverts with `ZeroAmount`, `NotLive` or `InsufficientCredit`.
    /// @param amount What is staked.
    function stake(uint256 amount) external;

    /// @notice Asks for unlocked stake back. It backs no claim from now on; a second request adds to the first and
    /// starts its delay anew.
    /// @dev Reverts with `ZeroAmount` or `InsufficientFreeStake`.
    /// @param amount What is asked for.
    function requestWithdraw(uint256 amount) external;

    /// @notice After the delay, turns the requested stake into credit.
    /// @dev Reverts with `NothingRequested` or `WithdrawalNotReady`.
    function unstake() external;

    /// @notice Market only: moves credit of an account into the market's custody (a fee in escrow, a bond).
    /// @dev Reverts with `NotMarket` or `InsufficientCredit`.
    /// @param account Whose credit.
    /// @param amount What is moved.
    function take(address account, uint256 amount) external;

    /// @notice Market only: credits an account from the market's custody.
    /// @dev Reverts with `NotMarket` or `InsufficientCustody`.
    /// @param account Who is credited.
    /// @param amount What is moved.
    function give(address account, uint256 amount) external;

    /// @notice Market only: locks stake behind a claim.
    /// @dev Reverts with `NotMarket` or `InsufficientFreeStake`.
    /// @param account Whose stake.
    /// @param amount What is locked.
    function lock(address account, uint256 amount) external;

    /// @notice Market only: releases locked stake.
    /// @dev Reverts with `NotMarket` or `InsufficientLocked`.
    /// @param account Whose stake.
    /// @param amount What is released.
    function unlock(address account, uint256 amount) external;

    /// @notice Market only: moves locked stake into the market's custody, and notes why.
    /// @dev Reverts with `NotMarket` or `InsufficientLocked`.
    /// @param account Whose stake.
    /// @param amount What is moved.
    /// @param late Whether a deadline was missed; else a claim was refuted.
    function slash(address account, uint256 amount, bool late) external;

    /// @notice A worker's record. It omits finished jobs and fees: a worker could buy these by serving itself.
    /// @param worker The worker.
    /// @return since When the worker last began to stake from zero (unix time, whole minutes); 0 without any stake so
    /// far.
    /// @return refuted Number of refuted claims; at most 65,535 are counted.
    /// @return late Number of missed deadlines; likewise.
    function recordOf(address worker) external view returns (uint256 since, uint256 refuted, uint256 late);

    /// @notice An account's ledger.
    /// @param account The account.
    /// @return credit Free credit.
    /// @return staked Stake, without the stake being withdrawn.
    /// @return locked The locked part of the stake.
    /// @return withdrawing Stake being withdrawn.
    /// @return readyAt When the withdrawal is ready (unix time).
    function accountOf(
        address account
    ) external view returns (uint256 credit, uint256 staked, uint256 locked, uint256 withdrawing, uint256 readyAt);

    /// @notice What the market holds for jobs and games.
    /// @return The amount.
    function custody() external view returns (uint256);

    /// @notice The stake asset.
    /// @return Its address.
    function asset() external view returns (IERC20);

    /// @notice The market, the vault's only operator.
    /// @return Its address.
    function market() external view returns (address);

    /// @notice The contract that says who may stake.
    /// @return Its address.
    function provisioning() external view returns (IProvisioning);

    /// @notice Seconds between asking for stake back and having it.
    /// @return The seconds.
    function withdrawalDelay() external view returns (uint256);
}
