// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GasSchedule} from "../../../contracts/game/GasSchedule.sol";

/// @notice Prices, under the bounds of ParameterChecks: they fit the fields that add them up.
contract ScheduleProofs {
    /// @dev Never used; see LedgerProofs.
    mapping(uint256 => uint256) private _unused;

    /// @dev A unit of gas costs at least one unit, at most the cap.
    function price(uint256 wanted, uint256 cap) external pure {
        require(cap != 0);
        uint256 unit = GasSchedule.price(wanted, cap);
        assert(unit != 0 && unit <= cap);
        assert(unit <= wanted || wanted == 0);
    }

    /// @dev A move costs at most 80 bits, so that a game's own moves fit 96 and 2^32 moves of a claim its 112 bits of
    /// dues.
    function move(uint32 gas, uint256 wanted, uint256 cap) external pure {
        require(cap != 0 && cap <= 2 ** 48);
        uint256 cost = gas * GasSchedule.price(wanted, cap);
        assert(cost <= 2 ** 80);
        assert(cost * 2 ** 16 <= 2 ** 96);
        assert(cost * (2 ** 32 - 1) < 2 ** 112);
    }

    /// @dev The price of the next block fits 64 bits, and is at most an eighth more than the base fee now, and the unit
    /// that rounds it up.
    function nextPrice(uint256 cap) external view {
        require(cap != 0 && cap <= 2 ** 48 && block.basefee < 2 ** 128);
        uint256 unit = GasSchedule.nextPrice(cap);
        assert(unit != 0 && unit <= cap);
        assert(unit <= block.basefee + block.basefee / 8 + 1);
    }

    /// @dev A settlement is paid at what gas costs when it is made, never above what was set aside, which may be
    /// nothing.
    function price_ofASettlement(uint256 wanted, uint64 setAside) external pure {
        uint256 unit = GasSchedule.price(wanted, setAside);
        assert(unit <= setAside);
        assert(unit != 0 || setAside == 0);
        assert(unit <= wanted || wanted == 0);
    }

    /// @dev The inductive step over the games that a death leaves behind: what is set aside covers each settlement, and
    /// then those that are left.
    function settlements(uint24 games) external pure {
        require(games != 0);
        uint256 left = uint256(games) - 1;
        assert(GasSchedule.settlements(games) == GasSchedule.settle(left) + GasSchedule.settlements(left));
    }
}
