// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The game's record of a claim, in one word. From the lowest bit up: number of open games 24, dead 8, dues
/// 112, earned 112. Dues: the amount that the games alive get if the claim dies; after the death, the amount left for
/// unsettled games. Earned: the amount that the worker drew from bonds and has not collected.
type ClaimGames is uint256;

using ClaimGamesLib for ClaimGames global;

/// @title The fields of a `ClaimGames`, and their updates.
/// @dev SAFETY: sums cannot overflow their field. A price has at most 80 bits (32 of gas, 48 of the cap:
/// ParameterChecks), and no claim sees 2^32 moves or 2^24 games.
library ClaimGamesLib {
    uint256 private constant DEAD = 1 << 24;
    uint256 private constant DUES = 32;
    uint256 private constant EARNED = 144;

    function open(ClaimGames g) internal pure returns (uint256) {
        return uint24(ClaimGames.unwrap(g));
    }

    function dead(ClaimGames g) internal pure returns (bool) {
        return ClaimGames.unwrap(g) & DEAD != 0;
    }

    function dues(ClaimGames g) internal pure returns (uint256) {
        return uint112(ClaimGames.unwrap(g) >> DUES);
    }

    function earned(ClaimGames g) internal pure returns (uint256) {
        return ClaimGames.unwrap(g) >> EARNED;
    }

    /// @notice One game more.
    function opened(ClaimGames g) internal pure returns (ClaimGames) {
        return ClaimGames.wrap(ClaimGames.unwrap(g) + 1);
    }

    /// @notice One game less.
    function closed(ClaimGames g) internal pure returns (ClaimGames) {
        return ClaimGames.wrap(ClaimGames.unwrap(g) - 1);
    }

    function killed(ClaimGames g) internal pure returns (ClaimGames) {
        return ClaimGames.wrap(ClaimGames.unwrap(g) | DEAD);
    }

    function addDues(ClaimGames g, uint256 amount) internal pure returns (ClaimGames) {
        unchecked {
            return ClaimGames.wrap(ClaimGames.unwrap(g) + (amount << DUES));
        }
    }

    /// @param amount At most the dues: what was added for one game.
    function subtractDues(ClaimGames g, uint256 amount) internal pure returns (ClaimGames) {
        return ClaimGames.wrap(ClaimGames.unwrap(g) - (amount << DUES));
    }

    /// @notice The dues replaced.
    function withDues(ClaimGames g, uint256 amount) internal pure returns (ClaimGames) {
        return g.subtractDues(g.dues()).addDues(amount);
    }

    function addEarned(ClaimGames g, uint256 amount) internal pure returns (ClaimGames) {
        unchecked {
            return ClaimGames.wrap(ClaimGames.unwrap(g) + (amount << EARNED));
        }
    }

    function collected(ClaimGames g) internal pure returns (ClaimGames) {
        return ClaimGames.wrap(ClaimGames.unwrap(g) & ((1 << EARNED) - 1));
    }
}
