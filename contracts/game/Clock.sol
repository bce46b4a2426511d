// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title How long windows and games are. All in seconds; `rate` is not zero (ParameterChecks).
/// @dev Pure arithmetic, checked by solc's SMTChecker (test/contracts/smt/ClockProofs.sol).
library Clock {
    /// @notice The shortest window of a job: the slowest honest re-execution fits.
    function window(uint256 base, uint256 work, uint256 rate) internal pure returns (uint256) {
        return base + work / rate;
    }

    /// @notice Each side's time for a whole game about a job: two such executions beside the inclusions.
    function budget(uint256 base, uint256 work, uint256 rate) internal pure returns (uint256) {
        return base + (2 * work) / rate;
    }

    /// @notice From a claim's submission to the end of the last game about it, at most: each game opens within the
    /// window and uses up both sides' time.
    function longestDispute(uint256 window_, uint256 budget_) internal pure returns (uint256) {
        return window_ + 2 * budget_;
    }

    /// @notice Returns whether a side that had `left` seconds at the start of its turn has lost by the clock. If not,
    /// the side may move; if so, anyone may end the game.
    function isOver(uint256 left, uint256 elapsed) internal pure returns (bool) {
        return elapsed > left;
    }
}
