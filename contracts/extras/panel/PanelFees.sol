// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The cost of a panel's seats.
/// @dev Pure, checked by solc's SMTChecker (test/contracts/smt/PanelProofs.sol): a poster pays the fees of all seats,
/// and never gets back more than these.
library PanelFees {
    /// @notice The amount that a poster pays: the fees of all seats, including a seat that may be added later.
    /// @param fee The fee of one seat.
    /// @param seats The number of posted seats.
    /// @param auditUntil Until when a seat may be added; 0: no seat.
    function total(uint128 fee, uint8 seats, uint40 auditUntil) internal pure returns (uint256) {
        return uint256(fee) * (uint256(seats) + (auditUntil == 0 ? 0 : 1));
    }

    /// @notice The part of the total kept for a seat that may be added later.
    /// @param added Whether the seat was added.
    function kept(uint128 fee, uint40 auditUntil, bool added) internal pure returns (uint256) {
        return auditUntil != 0 && !added ? fee : 0;
    }
}
