// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PanelFees} from "../../../contracts/extras/panel/PanelFees.sol";

/// @notice The fees of a panel, a call at a time: what comes in is what the seats cost and what is kept for one more,
/// and no more comes back.
contract PanelProofs {
    /// @dev Never used; see LedgerProofs.
    mapping(uint256 => uint256) private _unused;

    /// @dev `post`: what comes in pays each seat, and the rest is what is kept.
    function post(uint128 fee, uint8 seats, uint40 auditUntil) external pure {
        require(seats != 0 && seats <= 16);
        uint256 total = PanelFees.total(fee, seats, auditUntil);
        assert(total == uint256(fee) * seats + PanelFees.kept(fee, auditUntil, false));
        assert(total < 2 ** 133);
    }

    /// @dev `addSeat`: what was kept pays the seat, and nothing is kept then.
    function add(uint128 fee, uint40 auditUntil) external pure {
        require(auditUntil != 0);
        assert(PanelFees.kept(fee, auditUntil, false) == fee);
        assert(PanelFees.kept(fee, auditUntil, true) == 0);
    }

    /// @dev `resolve`, a seat at a time: of the first `k` seats no more than their fees came back, and so of one more.
    function resolve(
        uint128 fee,
        uint40 auditUntil,
        bool added,
        uint8 k,
        uint256 refund,
        uint128 amount
    ) external pure {
        uint256 kept = PanelFees.kept(fee, auditUntil, added);
        require(amount <= fee && refund <= kept + uint256(fee) * k);
        assert(refund + amount <= kept + uint256(fee) * (uint256(k) + 1));
    }

    /// @dev After the last seat: what comes back is at most what came in.
    function resolved(uint128 fee, uint8 seats, uint40 auditUntil, bool added, uint256 refund) external pure {
        require(seats != 0 && seats <= 16 && (auditUntil != 0 || !added));
        uint256 seatFees = uint256(fee) * (uint256(seats) + (added ? 1 : 0));
        require(refund <= PanelFees.kept(fee, auditUntil, added) + seatFees);
        assert(refund <= PanelFees.total(fee, seats, auditUntil));
    }
}
