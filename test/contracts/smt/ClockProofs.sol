// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Clock} from "../../../contracts/game/Clock.sol";

/// @notice Windows and clocks, under the bounds of ParameterChecks.
contract ClockProofs {
    /// @dev Never used; see LedgerProofs.
    mapping(uint256 => uint256) private _unused;

    uint256 private constant LONGEST = 365 days;

    /// @dev A job's window and clock fit the fields that hold them, and are at least their bases.
    function budgets(uint32 base, uint64 work, uint64 maxWork, uint64 rate) external pure {
        require(rate != 0 && maxWork / rate <= LONGEST && base <= LONGEST && work <= maxWork);
        uint256 window = Clock.window(base, work, rate);
        uint256 budget = Clock.budget(base, work, rate);
        assert(window >= base);
        assert(budget >= window);
        // Seconds of a side: 32 bits.
        assert(budget < 2 ** 32);
        // 40 bits hold the end of a window until the year 36,000.
        assert(window < 2 ** 32);
    }

    /// @dev No job is shorter-windowed or longer-clocked than the deployment's largest.
    function budgets_growWithTheWork(uint32 base, uint64 work, uint64 maxWork, uint64 rate) external pure {
        require(rate != 0 && work <= maxWork);
        assert(Clock.budget(base, work, rate) <= Clock.budget(base, maxWork, rate));
        assert(Clock.window(base, work, rate) <= Clock.window(base, maxWork, rate));
    }

    /// @dev A move: the mover's clock never underflows, falls by the time used, and the two budgets together never
    /// grow.
    function move(uint32 worker, uint32 challenger, uint40 since, uint40 time, bool workersTurn) external pure {
        require(since <= time);
        uint256 left = workersTurn ? worker : challenger;
        uint256 elapsed = time - since;
        require(!Clock.isOver(left, elapsed));
        uint256 rest = left - elapsed;
        uint256 newWorker = workersTurn ? rest : worker;
        uint256 newChallenger = workersTurn ? challenger : rest;
        assert(newWorker <= worker && newChallenger <= challenger);
        assert(newWorker + newChallenger + elapsed == uint256(worker) + challenger);
    }

    /// @dev Bounded delay, by induction over moves: while a game has opened at `opened` with two budgets of `budget`
    /// and is not over by the clock, the time used so far is what the clocks have lost. So after `2 * budget` seconds
    /// somebody's clock is over.
    function delay(
        uint40 opened,
        uint32 budget,
        uint32 worker,
        uint32 challenger,
        uint40 since,
        uint40 time,
        bool workersTurn
    ) external pure {
        require(opened <= since && since <= time && worker <= budget && challenger <= budget);
        // The invariant, before the move.
        require(uint256(since) - opened == 2 * uint256(budget) - worker - challenger);
        uint256 left = workersTurn ? worker : challenger;
        uint256 elapsed = time - since;
        if (Clock.isOver(left, elapsed)) return;
        // Not over: still within the two budgets,
        assert(time - opened <= 2 * uint256(budget));
        // and the invariant, after the move.
        uint256 sum = uint256(worker) + challenger - elapsed;
        assert(uint256(time) - opened == 2 * uint256(budget) - sum);
    }

    /// @dev A claim's last game is over by the longest dispute, if it opened within the window.
    function longest(
        uint40 submitted,
        uint32 window,
        uint32 maxWindow,
        uint32 budget,
        uint32 maxBudget,
        uint40 opened,
        uint40 time
    ) external pure {
        require(window <= maxWindow && budget <= maxBudget);
        require(submitted <= opened && opened <= uint256(submitted) + window);
        require(opened <= time && time - opened <= 2 * uint256(budget));
        assert(time - submitted <= Clock.longestDispute(maxWindow, maxBudget));
    }

    /// @dev What ParameterChecks asks of the withdrawal delay is a number that fits and bounds every job's dispute.
    function withdrawal(uint32 base, uint32 maxWindow, uint64 work, uint64 maxWork, uint64 rate) external pure {
        require(rate != 0 && maxWork / rate <= LONGEST && base <= LONGEST && maxWindow <= LONGEST && work <= maxWork);
        uint256 maximum = Clock.longestDispute(maxWindow, Clock.budget(base, maxWork, rate));
        assert(Clock.longestDispute(maxWindow, Clock.budget(base, work, rate)) <= maximum);
        assert(maximum < 2 ** 40);
    }
}
