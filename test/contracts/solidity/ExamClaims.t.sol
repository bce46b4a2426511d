// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PledgeStatus} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {ExamHandler} from "./ExamHandler.t.sol";

/// @notice Whatever is called on the registry, the exams and the claims, over random sequences of reports, statements,
/// exams, pledges, challenges and time: every wrong result that a pledge backs can be refuted, no right one dies, and
/// custody is what is promised.
contract ExamClaimsInvariants {
    ExamHandler private _handler;

    function setUp() external {
        _handler = new ExamHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @dev The name and the fields are the test runner's.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function excludeSelectors() external view returns (FuzzSelector[] memory excluded) {
        excluded = new FuzzSelector[](1);
        excluded[0].addr = address(_handler);
        excluded[0].selectors = new bytes4[](3);
        excluded[0].selectors[0] = ExamHandler.windDown.selector;
        excluded[0].selectors[1] = ExamHandler.refuteLies.selector;
        excluded[0].selectors[2] = ExamHandler.refute.selector;
    }

    function invariant_results() public view {
        require(_handler.honestDied() == 0, "a right result died by a proof");
        require(_handler.immortal() == 0, "a wrong result could not be refuted");
        require(_handler.voided() == 0, "an honest report in time is void");
        require(_handler.trespasses() == 0, _handler.trespassed());
        require(_handler.risen() == 0, "a stopped worker goes on");
        require(_handler.pledgesAreExact(), "stake is not locked as pledges say, or claims are not counted");
        require(_handler.heldClassesAreBacked(), "a class is held without what must be behind it");
        require(_handler.token().balanceOf(address(_handler.vault())) == _handler.owed(), "insolvent");
        require(_handler.vault().custody() == _handler.promised(), "custody is not what is promised");
        _holdNothing(address(_handler.claims()));
        _holdNothing(address(_handler.examClaims()));
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _handler.refuteLies();
        invariant_results();
        _handler.windDown();
        invariant_results();
        require(_handler.vault().custody() == 0, "something is left");
    }

    /// @dev Checks of the handler: these sequences reach what it is for.
    function test_lie_isRefuted_afterItsWorkersDeviceIsFrozenRetiredOrReleased() external {
        for (uint8 how = 0; how < 3; ++how) {
            _handler.pledge(how);
            _handler.enrol(how, 4);
            _handler.sitExam(how, 0, true, true);
            if (how == 0) _handler.makeStatement(0, 2, how, true);
            else if (how == 1) _handler.retireKey(how);
            else _handler.releaseWorker(how);
            require(!_handler.registry().isLive(_handler.actors(how)), "the worker is eligible still");
        }
        _handler.refuteLies();
        require(_handler.refutedLies() == 3 && _handler.immortal() == 0, "a lie lives");
        invariant_results();
        _handler.windDown();
        require(_handler.vault().custody() == 0, "something is left");
    }

    function test_liesAreRefuted_untilTheirLastSecond_andTheFirstStopsTheWorker() external {
        _handler.pledge(0);
        _handler.sitExam(0, 0, true, true);
        _handler.sitExam(0, 1, true, false);
        _handler.challenge(3, 0);
        _handler.requestRelease(0);
        _handler.move(1_800, 30);
        _handler.refuteLies();
        require(_handler.refutedLies() == 1 && _handler.immortal() == 0, "not one lie was refuted");
        (PledgeStatus status, , uint256 open, uint256 left) = _handler.claims().pledgeOf(_handler.actors(0));
        require(status == PledgeStatus.Stopped && open == 0 && left != 0, "the pledge is not taken");
        invariant_results();
    }

    function test_classIsHeld_by12ResultsAfterTheEnrolment_andLostWithThePledge() external {
        _handler.pledge(1);
        _handler.enrol(1, 0);
        // The first exam after the enrolment is left out.
        for (uint256 k = 0; k < 13; ++k) {
            require(!_handler.examClaims().classHeld(_handler.actors(1), 0), "held too early");
            _handler.sitExam(1, 0, false, true);
        }
        require(_handler.examClaims().classHeld(_handler.actors(1), 0), "not held");
        invariant_results();
        _handler.requestRelease(1);
        require(!_handler.examClaims().classHeld(_handler.actors(1), 0), "held without a pledge");
        invariant_results();
    }

    function test_rightResult_standsThroughShamGames_andEverybodyLeaves() external {
        _handler.advance(2, 3, false);
        _handler.playGame(0, 1);
        _handler.openGame(4, 0);
        _handler.endGame(1, 0, false);
        for (uint8 who = 0; who < 7; ++who) for (uint8 what = 0; what < 5; ++what) _handler.trespass(who, 0, what);
        for (uint8 field = 0; field < 7; ++field) _handler.forgeResult(0, 0, field);
        invariant_results();
        _handler.windDown();
        invariant_results();
        require(_handler.died() == 0 && _handler.vault().custody() == 0, "the right result does not stand");
    }

    /// @dev What was sat before the enrolment does not count, nor what another worker sat with the device; what counts
    /// does not for ever.
    function test_class_isHeldByTheLastExamsOfItsWorkerOnly() external {
        _handler.pledge(1);
        for (uint256 k = 0; k < 14; ++k) _handler.sitExam(1, 0, false, true);
        _handler.enrol(1, 0);
        _handler.pledge(2);
        _handler.enrol(2, 0);
        for (uint256 k = 0; k < 2; ++k) _handler.sitExam(1, 0, false, true);
        invariant_results();
        for (uint256 k = 0; k < 12; ++k) _handler.sitExam(1, 0, false, true);
        require(_handler.examClaims().classHeld(_handler.actors(1), 0), "not held");
        invariant_results();
        _handler.releaseWorker(1);
        _handler.waitADay(0);
        _handler.attestWorker(2, 1, 0, 0, false);
        _handler.sitExam(2, 0, false, true);
        require(!_handler.examClaims().classHeld(_handler.actors(2), 0), "held by another's exams");
        invariant_results();
        for (uint256 k = 0; k < 12; ++k) _handler.sitExam(2, 0, false, true);
        require(_handler.examClaims().classHeld(_handler.actors(2), 0), "not held");
        for (uint256 k = 0; k < 8; ++k) _handler.numberExam();
        require(!_handler.examClaims().classHeld(_handler.actors(2), 0), "held for ever");
        invariant_results();
    }

    function test_honestReports_areNeverVoid_whateverBlocksOthersNumber() external {
        for (uint8 blocks = 0; blocks < 16; ++blocks) _handler.sitLate(blocks, blocks % 2, blocks);
        require(_handler.heard() == 16, "a report was not heard");
        invariant_results();
    }

    function test_exams_withstandWhatNobodyMay() external {
        _handler.enrolWrongly(0, 1);
        _handler.pledge(0);
        _handler.enrol(0, 1);
        _handler.pledge(3);
        _handler.move(10, 30);
        _handler.requestRelease(3);
        _handler.enrolWrongly(0, 1);
        _handler.enrolWrongly(3, 1);
        for (uint8 class = 0; class < 2; ++class) {
            _handler.sitExam(0, class, true, true);
            _tryToSit(0, class);
            for (uint8 how = 0; how < 4; ++how) {
                _handler.sitWrongly(0, class, how);
                _handler.sitWrongly(3, class, how);
            }
            _handler.passBlocks(15);
            _tryToSit(1, class);
            _handler.passBlocks(230);
            _tryToSit(2, class);
        }
        invariant_results();
        // The lie becomes one claim, whoever brings it, and none after its time.
        _handler.challenge(3, 0);
        _tryToChallenge(4, 0);
        for (uint256 k = 0; k < 14; ++k) _handler.move(7_100, 30);
        _tryToChallenge(4, 1);
        invariant_results();
    }

    function _tryToSit(uint8 who, uint8 class) private {
        try _handler.sitExam(who, class, false, false) {} catch {}
    }

    function _tryToChallenge(uint8 by, uint8 result) private {
        try _handler.challenge(by, result) {} catch {}
    }

    function _holdNothing(address contract_) private view {
        (uint256 credit, uint256 staked, uint256 locked, uint256 withdrawing, ) = _handler.vault().accountOf(contract_);
        require(credit + staked + locked + withdrawing == 0, "a contract has money");
        require(_handler.token().balanceOf(contract_) == 0, "a contract has tokens");
    }
}
