// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RunHandler} from "./RunHandler.t.sol";

/// @notice Runs and answers, over random sequences of calls and over each kind of lie.
contract RunInvariants {
    /// @dev As RunHandler has them: carries, answers, input in parts.
    uint8 private constant KINDS = 4;
    uint8 private constant IN_PARTS = 4;

    RunHandler private _handler;

    function setUp() external {
        _handler = new RunHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// hardhat-config: invariant.runs = 12
    /// @dev Few sequences, because a call may be a whole dispute.
    function invariant_verdictsOnRunsAreRight() external view {
        require(_handler.honestDied() == 0, "an honest claim died by a proof");
        require(_handler.stuck() == 0, "a side had no legal move");
        require(_handler.refusals() == 0, "something right was refused");
        require(_handler.trespasses() == 0, _handler.trespass());
    }

    /// @dev Each value of a run of each kind and of one, two and three items is a lie once.
    function test_everyLie_isRefuted() external {
        uint256 lies;
        for (uint8 kind = 0; kind < KINDS; ++kind) {
            for (uint8 items = 1; items < 4; ++items) {
                for (uint8 lie = 1; lie <= 3 * items; ++lie) {
                    _handler.dispute(kind, items - 1, lie, kind + lie);
                    require(_handler.refuted() == ++lies, "a lie stands");
                }
            }
        }
        this.invariant_verdictsOnRunsAreRight();
    }

    /// @dev Each leaf of each list of an honest claim is disputed.
    function test_honestClaims_stand_whateverIsTried() external {
        for (uint8 kind = 0; kind < KINDS; ++kind) {
            for (uint8 bits = 0; bits < 6; ++bits) _handler.dispute(kind | (bits % 2 == 0 ? IN_PARTS : 0), 2, 0, bits);
        }
        this.invariant_verdictsOnRunsAreRight();
    }

    /// @dev A worker that expands too late has lost.
    function test_expansion_afterTheClock_isRefused() external {
        for (uint8 kind = 0; kind < KINDS; ++kind) {
            _handler.launch(0, kind, 2, 4);
            _handler.openRun(0, kind, 1);
            _handler.playToExpansion(kind);
            _handler.wait(3_600);
            _handler.intrudeRun(kind, 0);
            _handler.wait(60);
            _handler.intrudeRun(kind, 0);
        }
        this.invariant_verdictsOnRunsAreRight();
    }

    function test_outputs_areReadItemByItem() external {
        for (uint8 kind = 0; kind < KINDS; ++kind) {
            for (uint8 items = 0; items < 3; ++items) _handler.serve(kind | IN_PARTS, items, 0);
        }
        this.invariant_verdictsOnRunsAreRight();
        // Of one, two and three items: the first output of all, or of the last, and the second of the last.
        require(_handler.outputsRead() == 2 * (6 + 3) + 2 * 6, "outputs");
    }

    function test_whatCannotBeDisputed_isRefusedAtThePost() external {
        _handler.askTooMuch(0);
        this.invariant_verdictsOnRunsAreRight();
    }
}
