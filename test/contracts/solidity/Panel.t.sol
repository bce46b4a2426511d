// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PanelOutcome} from "../../../contracts/interfaces/IPanel.sol";
import {PanelHandler} from "./PanelHandler.t.sol";

/// @notice Panels over random sequences of calls.
contract PanelInvariants {
    PanelHandler private _handler;

    function setUp() external {
        _handler = new PanelHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function excludeSelectors() external view returns (FuzzSelector[] memory excluded) {
        excluded = new FuzzSelector[](1);
        excluded[0].addr = address(_handler);
        excluded[0].selectors = new bytes4[](1);
        excluded[0].selectors[0] = PanelHandler.windDown.selector;
    }

    /// @dev The name and the fields are the test runner's.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function invariant_custodyIsWhatIsPromised_andOutcomesAreThoseOfTheSeats() external view {
        (uint256 credit, , , , ) = _handler.vault().accountOf(address(_handler.panel()));
        require(credit == _handler.promised(), "the panel's contract has not what it owes");
        require(_handler.vault().custody() == _handler.inCustody(), "custody is not the fees of open seats");
        require(_handler.wrongs() == 0, _handler.wrong());
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _handler.windDown();
    }

    /// @dev Checks of the handler: these sequences reach what it is for, and try at each step what nobody may.
    function test_honestSeats_agree_andSurvive() external {
        _handler.post(4, 1, 5, true);
        for (uint8 k = 0; k < 2; ++k) {
            _probe();
            _handler.claimSeat(k, k);
            _handler.sealSeat(k, false);
        }
        _passTo(14_402);
        for (uint8 k = 0; k < 2; ++k) {
            _probe();
            _handler.openSeal(k, 3);
        }
        _handler.agree(0);
        _probe();
        _passTo(14_402 + 1_801);
        _handler.finalise(0);
        _probe();
        _handler.finalise(1);
        _probe();
        _handler.windDown();
        _probe();
        _expect(PanelOutcome.Survived, 2);
    }

    function test_liarAndAddedSeat_theLieIsRefuted() external {
        _handler.post(4, 0, 5, true);
        _handler.claimSeat(0, 0);
        _handler.sealSeat(0, true);
        _passTo(7_200);
        _probe();
        _passTo(7_201);
        _probe();
        _handler.addSeat(0);
        _probe();
        _handler.claimSeat(1, 1);
        _handler.sealSeat(1, false);
        _passTo(14_402);
        _handler.openSeal(0, 0);
        _handler.openSeal(1, 0);
        _probe();
        _handler.refute(0, 2);
        _probe();
        _handler.windDown();
        _expect(PanelOutcome.Survived, 1);
    }

    /// @dev What was agreed is refuted: nothing is left of it.
    function test_liesThatAgree_areRefuted() external {
        _handler.post(4, 1, 5, false);
        for (uint8 k = 0; k < 2; ++k) {
            _handler.claimSeat(k, k);
            _handler.sealSeat(k, true);
        }
        _passTo(14_402);
        for (uint8 k = 0; k < 2; ++k) _handler.openSeal(k, 3);
        _handler.agree(0);
        _probe();
        for (uint8 k = 0; k < 2; ++k) _handler.refute(k, 2);
        _probe();
        _handler.windDown();
        _probe();
        _expect(PanelOutcome.Failed, 0);
    }

    /// @dev A proof against one seat counts for all that claim the same root of traces, and for no answer.
    function test_liesThatAgree_oneIsProvedWrong() external {
        _handler.post(4, 1, 5, false);
        _handler.post(4, 1, 5, false);
        for (uint8 k = 0; k < 4; ++k) {
            _handler.claimSeat(k % 2, k);
            _handler.sealSeat(k, true);
        }
        _passTo(14_402);
        for (uint8 k = 0; k < 4; ++k) _handler.openSeal(k, 3);
        for (uint8 p = 0; p < 2; ++p) _handler.agree(p);
        _probe();
        for (uint8 p = 0; p < 2; ++p) {
            _handler.prove(2 * p, 2);
            _handler.readOutput(p);
        }
        _passTo(14_402 + 1_801);
        for (uint8 p = 0; p < 2; ++p) _handler.finalise(2 * p + 1);
        _handler.windDown();
        _expect(PanelOutcome.Survived, 1);
        (PanelOutcome outcome, ) = _handler.endOf(1);
        require(outcome == PanelOutcome.Split, "a root that a proof refuted is a result");
    }

    function test_sealedAndNotOpened_andNotTaken_fails() external {
        _handler.post(4, 1, 5, false);
        _handler.claimSeat(0, 0);
        _handler.sealSeat(0, false);
        _handler.windDown();
        _expect(PanelOutcome.Failed, 0);
        require(_handler.withdrawn() == 2 * 6, "not all fees came back");
    }

    /// @dev A panel that is over before a seat can be added.
    function test_nobodyTakesASeat_theKeptFeeComesBack_andNoneIsAdded() external {
        _handler.post(4, 1, 5, true);
        _passTo(7_201);
        _handler.resolve(0);
        _probe();
        _handler.windDown();
        _expect(PanelOutcome.Failed, 0);
        require(_handler.withdrawn() == 3 * 6, "not all fees came back");
    }

    function test_differentClaims_split() external {
        _handler.post(4, 1, 5, false);
        for (uint8 k = 0; k < 2; ++k) {
            _handler.claimSeat(k, k);
            _handler.sealSeat(k, k == 1);
        }
        _passTo(14_402);
        for (uint8 k = 0; k < 2; ++k) _handler.openSeal(k, 3);
        _probe();
        _handler.windDown();
        _expect(PanelOutcome.Split, 2);
    }

    /// @dev A worker takes one seat of a panel.
    function test_seats_areTakenByDifferentWorkers() external {
        _handler.post(4, 1, 5, false);
        _handler.claimSeat(0, 0);
        try _handler.claimSeat(0, 1) {
            revert("two seats of a panel");
        } catch {}
        _handler.windDown();
    }

    /// @dev Calls that may be impossible now, and those that must be.
    function _probe() private {
        for (uint8 how = 0; how < 8; ++how) _handler.postWrongly(how, how);
        for (uint8 who = 0; who < 5; ++who) _handler.addWrongly(0, who);
        _handler.endWrongly(0);
        try _handler.agree(0) {} catch {}
        try _handler.resolve(0) {} catch {}
        _handler.readOutput(0);
        this.invariant_custodyIsWhatIsPromised_andOutcomesAreThoseOfTheSeats();
    }

    function _passTo(uint256 sinceStart) private {
        while (block.timestamp < 1_000_000 + sinceStart) {
            uint256 left = 1_000_000 + sinceStart - block.timestamp;
            _handler.pass(uint16(left > 7_199 ? 7_199 : left));
        }
    }

    function _expect(PanelOutcome expected, uint256 finals) private view {
        (PanelOutcome outcome, uint256 counted) = _handler.endOf(0);
        require(outcome == expected && counted == finals, "another end");
        this.invariant_custodyIsWhatIsPromised_andOutcomesAreThoseOfTheSeats();
    }
}
