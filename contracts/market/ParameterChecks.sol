// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Parameters} from "../types/Parameters.sol";
import {Clock} from "../game/Clock.sol";
import {GasSchedule} from "../game/GasSchedule.sol";
import {Payouts} from "../game/Payouts.sol";

/// @title Refuses a deployment whose parameters contradict one another.
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
    error CollateralTooSmall(uint256 given, uint256 least);
    error PenaltyOutOfRange(uint256 bps);
    error PenaltyBelowGas(uint256 given, uint256 least);

    /// @dev One inclusion: a block; a game's side: six.
    uint256 private constant LEAST_WINDOW = 12;
    uint256 private constant LEAST_CLOCK = 6 * LEAST_WINDOW;
    uint256 private constant LONGEST = 365 days;
    uint256 private constant MOST_STEP_GAS = 12_000_000;
    uint256 private constant MOST_PRICE = 1 << 48;

    /// @notice Checks all of a deployment's parameters against each other.
    function check(Parameters memory p) internal pure {
        require(p.arityBits != 0 && p.arityBits <= 6, ArityOutOfRange(p.arityBits));
        require(p.rate != 0, ZeroRate());
        require(p.maxWork != 0, ZeroWork());
        // SAFETY: prices have at most 80 bits, so that their sums fit the fields that hold them.
        require(p.priceCap != 0 && p.priceCap <= MOST_PRICE, PriceCapOutOfRange(p.priceCap));
        require(p.sink != address(0), ZeroSink());
        uint256 workTime = uint256(p.maxWork) / p.rate;
        require(workTime <= LONGEST, DurationTooLong(workTime, LONGEST));
        require(p.baseWindow >= LEAST_WINDOW, WindowTooShort(p.baseWindow, LEAST_WINDOW));
        uint256 leastWindow = Clock.window(p.baseWindow, p.maxWork, p.rate);
        require(p.maxWindow >= leastWindow, WindowTooShort(p.maxWindow, leastWindow));
        require(p.maxWindow <= LONGEST, DurationTooLong(p.maxWindow, LONGEST));
        require(p.baseClock >= LEAST_CLOCK, ClockTooShort(p.baseClock, LEAST_CLOCK));
        require(p.baseClock <= LONGEST, DurationTooLong(p.baseClock, LONGEST));
        // INVARIANT: stake cannot leave before every dispute about work done with it could be over.
        uint256 longestDispute = Clock.longestDispute(p.maxWindow, Clock.budget(p.baseClock, p.maxWork, p.rate));
        require(p.withdrawalDelay > longestDispute, WithdrawalTooFast(p.withdrawalDelay, longestDispute));
        require(p.maxStepGas != 0 && p.maxStepGas <= MOST_STEP_GAS, StepGasOutOfRange(p.maxStepGas, MOST_STEP_GAS));
        // INVARIANT: no game costs a worker more gas than its challenger prepaid.
        uint256 leastBond = GasSchedule.worstWorker(p.arityBits);
        require(p.bondGas >= leastBond, BondBelowGas(p.bondGas, leastBond));
        // INVARIANT: one game, with the worst of prices, is paid in full from the collateral.
        uint256 gas = p.bondGas + GasSchedule.worstChallenger(p.arityBits, p.maxStepGas);
        uint256 leastCollateral = p.bounty + gas * p.priceCap;
        require(p.collateral >= leastCollateral, CollateralTooSmall(p.collateral, leastCollateral));
        require(p.penaltyBps != 0 && p.penaltyBps <= 10_000, PenaltyOutOfRange(p.penaltyBps));
        // INVARIANT: whoever frees an abandoned job is paid from the penalty.
        uint256 penalty = Payouts.penalty(p.collateral, p.penaltyBps);
        require(penalty >= GasSchedule.EXPIRE * p.priceCap, PenaltyBelowGas(penalty, GasSchedule.EXPIRE * p.priceCap));
    }
}
