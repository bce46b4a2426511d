// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents} from "../interfaces/IMarketEvents.sol";
import {GasSchedule} from "../game/GasSchedule.sol";
import {Admission} from "./Admission.sol";
import {Inputs} from "./Inputs.sol";
import {ParameterChecks} from "./ParameterChecks.sol";
import {Parameters} from "../types/Parameters.sol";

/// @title The limits of the market: limits shared by every deployment, and limits that this deployment fixed for good.
abstract contract MarketParameters is IMarketEvents {
    /// @notice Maximum number of outputs in a served program: one bit each in a 64-bit word.
    uint256 public constant MAX_OUTPUTS = Admission.MAX_OUTPUTS;
    /// @notice Maximum number of outputs if a job asks for an answer: the worker submits all their roots.
    uint256 public constant MAX_ANSWERS = Admission.MAX_ANSWERS;
    /// @notice Largest output that can be delivered on chain, and largest part of an input, bytes.
    uint256 public constant MAX_OUTPUT_BYTES = Inputs.PART_BYTES;
    /// @notice Maximum gas that a callback may ask for. With a full part's delivery, 2.6 M gas of calldata at
    /// EIP-7623's floor (Inputs), it fits a transaction of 2^24 gas (EIP-7825).
    uint256 public constant MAX_CALLBACK_GAS = 2_000_000;
    /// @notice Seconds after a claim becomes final during which outputs can be delivered before the fee may be
    /// reclaimed. At most 64 deliveries, one transaction each, fit into a week, even with days of outages or
    /// unaffordable gas prices.
    uint256 public constant DELIVERY_SECONDS = 7 days;
    /// @notice Latest deadline, seconds from the post.
    uint256 public constant LONGEST_JOB = 365 days;

    uint32 internal immutable _baseWindow;
    uint32 internal immutable _maxWindow;
    uint32 internal immutable _baseClock;
    uint32 internal immutable _withdrawalDelay;
    uint64 internal immutable _rate;
    uint64 internal immutable _maxWork;
    uint8 internal immutable _arityBits;
    uint32 internal immutable _maxStepGas;
    uint32 internal immutable _maxStepBytes;
    uint32 internal immutable _bondGas;
    uint128 internal immutable _priceCap;
    uint128 internal immutable _bounty;
    uint128 internal immutable _collateral;
    uint16 internal immutable _penaltyBps;
    address internal immutable _sink;

    constructor(Parameters memory p) {
        // First, so that a refused deployment names the faulty parameter.
        ParameterChecks.check(p);
        _baseWindow = p.baseWindow;
        _maxWindow = p.maxWindow;
        _baseClock = p.baseClock;
        _withdrawalDelay = p.withdrawalDelay;
        _rate = p.rate;
        _maxWork = p.maxWork;
        _arityBits = p.arityBits;
        _maxStepGas = p.maxStepGas;
        _maxStepBytes = p.maxStepBytes;
        _bondGas = p.bondGas;
        _priceCap = p.priceCap;
        _bounty = p.bounty;
        _collateral = p.collateral;
        _penaltyBps = p.penaltyBps;
        _sink = p.sink;
    }

    /// @dev The reward for freeing an abandoned job, in the stake asset; 0 for a caller that is no plain account.
    function _expiryReward() internal view returns (uint256) {
        return GasSchedule.paid(GasSchedule.EXPIRE) * GasSchedule.price(block.basefee, _priceCap);
    }
}
