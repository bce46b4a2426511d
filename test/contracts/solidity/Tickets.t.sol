// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TicketsHandler} from "./TicketsHandler.t.sol";

/// @notice Invariants of the money of signed claims and tickets, over random sequences of calls.
contract TicketsInvariants {
    TicketsHandler private _handler;

    function setUp() external {
        _handler = new TicketsHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @dev One campaign for all: it is the calls that take the time.
    function invariant_ticketsAndPledges() external view {
        require(_handler.wrongs() == 0, _handler.wrong());
        require(_handler.honestDied() == 0, "an honest claim died by a proof");
        require(_handler.booksAreRight(), "the contracts say something else than was done");
        uint256 held = _handler.token().balanceOf(address(_handler.tickets()));
        require(held == _handler.owedByTickets(), "tickets hold something else than they owe");
        require(_handler.token().balanceOf(address(_handler.vault())) == _handler.owedByVault(), "insolvent");
        require(_handler.vault().custody() == _handler.promised(), "custody is not what is promised");
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _handler.windDown();
        this.invariant_ticketsAndPledges();
    }

    /// @dev Checks of the handler: these sequences reach what it is for, and each end that a ticket can have.
    function test_winner_isPaidOnce_andEverybodyLeaves() external {
        _handler.serve(0, false, 1 ether);
        _try(0);
        _handler.askBack(0, 1.5 ether);
        _handler.pass(1_801, 0);
        _try(0);
        _handler.finalise(0);
        _try(0);
        _handler.collect(0);
        _try(0);
        require(_handler.paidTickets() == 1, "the winner is not paid");
        _handler.windDown();
    }

    function test_lie_isRefuted_itsFaceGoesBack_andTheWorkerIsStopped() external {
        _handler.serve(0, true, 1 ether);
        _handler.serve(0, false, 1 ether);
        _handler.serve(0, true, 0);
        _handler.promiseAnswer(0, false, 0);
        _handler.signTicket(3, 7, 1, 1_799);
        // On chain before its worker is stopped, cashed after that.
        _handler.promiseAnswer(0, false, 0);
        _handler.signTicket(4, 7, 1, 1_799);
        _handler.land(4, 1, 0);
        _handler.land(2, 1, 0);
        _handler.open(0, 4);
        _handler.open(2, 3);
        _handler.open(1, 3);
        _handler.play(0, 0);
        _try(1);
        _handler.play(0, 3);
        for (uint8 i = 0; i < 5; ++i) _try(i);
        _handler.play(1, 3);
        _try(2);
        _handler.collect(0);
        _handler.collect(1);
        require(_handler.returnedTickets() == 2 && _handler.paidTickets() == 0, "a face of a stopped worker is kept");
        _handler.windDown();
    }

    function test_finalClaimOfAWorkerThatIsStoppedLater_isNotPaid() external {
        _handler.serve(1, false, 1 ether);
        _handler.pass(1_801, 0);
        _handler.finalise(0);
        _handler.serve(1, true, 0.5 ether);
        _handler.open(1, 4);
        _handler.play(0, 0);
        _handler.play(0, 4);
        _try(0);
        _try(1);
        require(_handler.returnedTickets() == 2 && _handler.paidTickets() == 0, "a face of a stopped worker is kept");
        _handler.windDown();
    }

    function test_late_andForeign_andOverIssued_areNotCashed() external {
        _handler.promiseAnswer(0, false, 0);
        for (uint8 kind = 0; kind < 8; ++kind) _handler.signTicket(0, kind, 3 ether - 1, 900);
        for (uint8 t = 0; t < 8; ++t) for (uint8 twist = 0; twist < 5; ++twist) _handler.cash(t, twist, true);
        _handler.deposit(0, 2 ether);
        for (uint8 twist = 0; twist < 4; ++twist) _handler.cash(7, twist, true);
        _handler.pass(901, 0);
        _try(0);
        // On chain in time, cashed too late.
        _handler.promiseAnswer(0, false, 0);
        _handler.signTicket(1, 7, 1, 100);
        _handler.land(1, 2, 1);
        _handler.land(1, 2, 0);
        _handler.pass(101, 0);
        _handler.cash(8, 4, false);
        _try(1);
        // Asked back: what was signed before is backed, what is signed later is not.
        _handler.promiseAnswer(1, false, 0);
        _handler.pass(1, 0);
        _handler.askRelease(1);
        _handler.promiseAnswer(1, false, 0);
        _handler.pass(1, 0);
        _handler.land(2, 0, 0);
        _handler.land(3, 0, 0);
        _handler.pass(901, 0);
        _try(2);
        _handler.pass(1_000, 0);
        _try(2);
        _handler.finalise(2);
        _handler.release(1);
        _handler.pledge(1);
        _handler.windDown();
    }

    /// @dev All calls that may be impossible now, about a signed claim.
    function _try(uint8 which) private {
        for (uint8 who = 0; who < 5; ++who) {
            _handler.land(which, who, 0);
            _handler.pledge(who);
            _handler.release(who);
            _handler.sweep(who);
            _handler.takeBack(who);
            _handler.takeEarnings(who);
        }
        for (uint8 twist = 0; twist < 5; ++twist) {
            _handler.cash(which, twist, true);
            _handler.cash(which, twist, false);
        }
        _handler.finalise(which);
        _handler.collect(which);
        this.invariant_ticketsAndPledges();
    }
}
