// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TicketAccounts} from "../../../contracts/extras/tickets/TicketAccounts.sol";

/// @notice A payer's deposit for a worker, an entry at a time: what is reserved or asked back is taken from what is
/// there, and nothing else changes.
contract TicketProofs {
    /// @dev Never used. A state variable of this kind keeps z3 on the one of its solvers that runs inside solc's WASM.
    mapping(uint256 => uint256) private _unused;

    /// @dev `cash`: a face is reserved, of what is free first.
    function reserve(uint128 free, uint128 withdrawing, uint96 face) external pure {
        require(face <= uint256(free) + withdrawing);
        (uint256 freeLeft, uint256 withdrawingLeft) = TicketAccounts.reserve(free, withdrawing, face);
        assert(freeLeft + withdrawingLeft + face == uint256(free) + withdrawing);
        assert(freeLeft <= free && withdrawingLeft <= withdrawing);
        assert(withdrawingLeft == withdrawing || freeLeft == 0);
    }

    /// @dev `requestWithdrawal`: free to asked back.
    function request(uint128 free, uint128 withdrawing, uint256 amount) external pure {
        require(amount <= free);
        (uint256 freeLeft, uint256 more) = TicketAccounts.request(free, withdrawing, amount);
        assert(freeLeft + more == uint256(free) + withdrawing);
        assert(freeLeft <= free);
    }
}
