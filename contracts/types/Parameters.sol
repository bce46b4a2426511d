// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The parameters that a deployment fixes for good. Amounts are in the smallest unit of the stake asset.
/// @param baseWindow Shortest window, seconds, before the job's work is added (`work / rate`).
/// @param maxWindow Longest window a requester may ask for, seconds.
/// @param baseClock Each side's time in a game, seconds, before `2 * work / rate` is added.
/// @param withdrawalDelay Seconds between requesting and receiving a withdrawal of stake.
/// @param rate Units of work per second that a participant is assumed to do when every element needs the exact
/// fallback.
/// @param maxWork Maximum work of a job, units.
/// @param arityBits log2 of the children in a reveal (k), 1..6.
/// @param maxStepGas Largest step proof among accepted programs, gas.
/// @param maxStepBytes Largest transaction with a step proof among accepted programs, bytes: the limit of the network's
/// transaction pools.
/// @param bondGas Gas that a challenger prepays.
/// @param priceCap Maximum price ever paid per unit of gas.
/// @param bounty Paid to the winner of the game that kills a claim.
/// @param collateral Locked for each claim.
/// @param penaltyBps Share of the collateral lost by a missed deadline, in 1/10,000.
/// @param sink The ledger account that receives forfeited amounts and amounts owed to nobody.
struct Parameters {
    uint32 baseWindow;
    uint32 maxWindow;
    uint32 baseClock;
    uint32 withdrawalDelay;
    uint64 rate;
    uint64 maxWork;
    uint8 arityBits;
    uint32 maxStepGas;
    uint32 maxStepBytes;
    uint32 bondGas;
    uint128 priceCap;
    uint128 bounty;
    uint128 collateral;
    uint16 penaltyBps;
    address sink;
}
