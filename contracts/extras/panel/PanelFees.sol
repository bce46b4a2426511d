// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What the seats of a panel cost.
/// @dev Pure, checked by solc's SMTChecker (test/contracts/smt/PanelProofs.sol): what a poster pays is the fees of all
/// seats, and no more than that comes back.
library PanelFees {
    /// @notice What a poster pays: the fees of all seats, and of one that may be added.
    /// @param fee A seat's.
    /// @param seats How many are posted.
    /// @param auditUntil Until when one may be added; 0: none.
    function total(uint128 fee, uint8 seats, uint40 auditUntil) internal pure returns (uint256) {
        return uint256(fee) * (uint256(seats) + (auditUntil == 0 ? 0 : 1));
    }

    /// @notice What of that is kept for a seat that may be added.
    /// @param added Whether it was.
    function kept(uint128 fee, uint40 auditUntil, bool added) internal pure returns (uint256) {
        return auditUntil != 0 && !added ? fee : 0;
    }
}
