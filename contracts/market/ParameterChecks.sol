// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Parameters} from "../types/Parameters.sol";
import {Clock} from "../game/Clock.sol";
import {GasSchedule} from "../game/GasSchedule.sol";
import {Payouts} from "../game/Payouts.sol";

/// @title Refuses a deployment with contradictory parameters.
library ParameterChecks {
    error ArityOutOfRange(uint256 arityBits);
    error ZeroRate();
    error ZeroWork();
    error PriceCapOutOfRange(uint256 priceCap);
    error ZeroSink();
    error WindowTooShort(uint256 given, uint256 least);
    error ClockTooShort(uint256 given, uint256 least);
    error DurationTooLong(uint256 given, uint256 most);
    error WithdrawalTooFast(uint256 given, uint256 longestDispute);
    error BondBelowGas(uint256 given, uint256 least);
    error StepGasOutOfRange(uint256 given, uint256 most);
    error StepBytesOutOfRange(uint256 given, uint256 least, uint256 most);
    error CollateralTooSmall(uint256 given, uint256 least);
    error PenaltyOutOfRange(uint256 bps);
    error PenaltyBelowGas(uint256 given, uint256 least);

    /// @dev Shortest window, seconds: one L1 block, enough time for including a transaction.
    uint256 private constant MIN_WINDOW = 12;
    /// @dev Shortest time of a side in a game, seconds: six inclusions.
    uint256 private constant MIN_CLOCK = 6 * MIN_WINDOW;
    /// @dev Longest duration of any kind, seconds. With it clocks fit 32 bits (test/contracts/smt/ClockProofs.sol).
    uint256 private constant MAX_DURATION = 365 days;
    /// @dev Largest step proof, gas: fits a transaction with 2^24 gas (EIP-7825), leaving room for a repricing. The
    /// compiler and src/program/validate.ts have the same limit.
    uint256 private constant MAX_STEP_GAS = 12_000_000;
    /// @dev Largest transaction with a step proof, bytes: Ethereum's clients take none that is larger into their pools
    /// (go-ethereum's `txMaxSize`, reth's `DEFAULT_MAX_TX_INPUT_BYTES`). A proof that no pool takes proves nothing.
    uint256 private constant MAX_STEP_BYTES = 131_072;
    /// @dev The protocol's other transactions stay within these bytes: a full part of an input or a largest output
    /// (Inputs) with its openings, a post with many inputs. A network with a lower limit cannot serve these
    /// transactions.
    uint256 private constant MIN_STEP_BYTES = 90_000;
    /// @dev Maximum price per unit of gas, in smallest units of the stake asset: 281,474 gwei for an asset with 18
    /// decimals.
    uint256 private constant MAX_PRICE = 1 << 48;
    /// @dev Largest `arityBits`: reveals of 64 children.
    uint256 private constant MAX_ARITY_BITS = 6;
    /// @dev The whole, in basis points.
    uint256 private constant MAX_BPS = 10_000;

    /// @notice Checks all of a deployment's parameters against each other.
    function check(Parameters memory p) internal pure {
        require(p.arityBits != 0 && p.arityBits <= MAX_ARITY_BITS, ArityOutOfRange(p.arityBits));
        require(p.rate != 0, ZeroRate());
        require(p.maxWork != 0, ZeroWork());
        // SAFETY: prices have at most 80 bits, and their sums therefore fit the record fields.
        require(p.priceCap != 0 && p.priceCap <= MAX_PRICE, PriceCapOutOfRange(p.priceCap));
        require(p.sink != address(0), ZeroSink());
        uint256 workTime = uint256(p.maxWork) / p.rate;
        require(workTime <= MAX_DURATION, DurationTooLong(workTime, MAX_DURATION));
        require(p.baseWindow >= MIN_WINDOW, WindowTooShort(p.baseWindow, MIN_WINDOW));
        uint256 leastWindow = Clock.window(p.baseWindow, p.maxWork, p.rate);
        require(p.maxWindow >= leastWindow, WindowTooShort(p.maxWindow, leastWindow));
        require(p.maxWindow <= MAX_DURATION, DurationTooLong(p.maxWindow, MAX_DURATION));
        require(p.baseClock >= MIN_CLOCK, ClockTooShort(p.baseClock, MIN_CLOCK));
        require(p.baseClock <= MAX_DURATION, DurationTooLong(p.baseClock, MAX_DURATION));
        // INVARIANT: stake cannot leave before every dispute about work done with it could be over.
        uint256 longestDispute = Clock.longestDispute(p.maxWindow, Clock.budget(p.baseClock, p.maxWork, p.rate));
        require(p.withdrawalDelay > longestDispute, WithdrawalTooFast(p.withdrawalDelay, longestDispute));
        require(p.maxStepGas != 0 && p.maxStepGas <= MAX_STEP_GAS, StepGasOutOfRange(p.maxStepGas, MAX_STEP_GAS));
        // SAFETY: a lie whose proof cannot be sent would be final.
        require(
            p.maxStepBytes >= MIN_STEP_BYTES && p.maxStepBytes <= MAX_STEP_BYTES,
            StepBytesOutOfRange(p.maxStepBytes, MIN_STEP_BYTES, MAX_STEP_BYTES)
        );
        // INVARIANT: no game costs a worker more gas than its challenger prepaid.
        uint256 leastBond = GasSchedule.worstWorker(p.arityBits);
        require(p.bondGas >= leastBond, BondBelowGas(p.bondGas, leastBond));
        // INVARIANT: the collateral fully pays for one game, even at maximum prices.
        uint256 gas = p.bondGas + GasSchedule.worstChallenger(p.arityBits, p.maxStepGas);
        uint256 leastCollateral = p.bounty + gas * p.priceCap;
        require(p.collateral >= leastCollateral, CollateralTooSmall(p.collateral, leastCollateral));
        require(p.penaltyBps != 0 && p.penaltyBps <= MAX_BPS, PenaltyOutOfRange(p.penaltyBps));
        // INVARIANT: the penalty pays whoever frees an abandoned job.
        uint256 penalty = Payouts.penalty(p.collateral, p.penaltyBps);
        require(penalty >= GasSchedule.EXPIRE * p.priceCap, PenaltyBelowGas(penalty, GasSchedule.EXPIRE * p.priceCap));
    }
}
