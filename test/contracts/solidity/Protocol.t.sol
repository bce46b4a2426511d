// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ShortPotHandler} from "./ShortPotHandler.t.sol";
import {EARLY, GROUP, MORE, RECORD, RESERVED, SEALED} from "./TermsHandler.t.sol";

/// @notice Invariants of the money, over random sequences of calls.
contract ProtocolInvariants {
    ShortPotHandler private _handler;

    function setUp() external {
        _handler = new ShortPotHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @dev One campaign for all: it is the calls that take the time.
    function invariant_money() external view {
        require(_handler.honestDied() == 0, "an honest claim died by a proof");
        require(_handler.trespasses() == 0, _handler.trespass());
        require(_handler.wrongPayouts() == 0, "an end of a game paid something else");
        require(_handler.unsettled() == 0, "a game of a dead claim cannot be settled");
        require(_handler.wrongDeliveries() == 0, "a delivery told, called or paid something else");
        require(_handler.wrongEnds() == 0, "an end of a job with terms paid something else");
        require(_handler.wrongClocks() == 0, "clocks are not what is left");
        _vaultHoldsWhatItOwes();
        _custodyIsWhatIsPromised();
        _lockedIsExactAndAtMostTheStake();
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _booksAreRight();
        _handler.settleAll();
        _booksAreRight();
        this.invariant_money();
    }

    function _booksAreRight() private view {
        require(_handler.duesAreExact(), "dues are not what games are due");
        require(_handler.deadArePaidFor(), "what a dead claim keeps is not what its games are due");
        require(_handler.deliveriesAreExact(), "outputs are not taken, delivered and paid once");
    }

    function _vaultHoldsWhatItOwes() private view {
        require(_handler.token().balanceOf(address(_handler.vault())) == _handler.owed(), "insolvent");
    }

    function _custodyIsWhatIsPromised() private view {
        require(_handler.vault().custody() == _handler.promised(), "custody is not what is promised");
    }

    function _lockedIsExactAndAtMostTheStake() private view {
        for (uint256 i = 0; i < 5; ++i) {
            address actor = _handler.actors(i);
            (, uint256 staked, uint256 locked, , ) = _handler.vault().accountOf(actor);
            require(locked <= staked, "locked above stake");
            require(locked == _handler.mustBeLocked(actor), "wrong amount locked");
        }
    }

    /// @dev Not an invariant but a check of the handler: a fixed sequence reaches every stage.
    function test_handler_reachesEveryStage() external {
        _handler.postJob(0, 5, false);
        _handler.claimJob(1, 0);
        _handler.submitJob(0, true);
        _handler.openGame(2, 0, true);
        _handler.openGame(3, 0, true);
        _handler.playGame(0, 0);
        _handler.playGame(0, 3);
        _handler.playGame(0, 0);
        _handler.playGame(0, 0);
        require(_handler.died() == 1, "the lie lives");
        _handler.endGame(1, 2, false);
        _handler.collectEarnings(0);
        _handler.claimJob(1, 0);
        _handler.submitJob(0, false);
        _handler.move(1_801, 10);
        _handler.finaliseClaim(1);
        _handler.payClaim(1, false);
        require(_handler.finalisedCount() == 1 && _handler.opened() == 2, "stages");
        require(_handler.vault().custody() == 0, "something is left");
    }

    /// @dev The same by way of what nobody may, tried at every stage, and every end that a game, a claim and a job can
    /// have.
    function test_everyStage_withstandsWhatNobodyMay() external {
        _handler.stakeOrUnstake(4, 2 ether, 1);
        _handler.stakeOrUnstake(3, 1 ether, 0);
        _handler.postJob(0, 5, false);
        _probe();
        _handler.claimJob(1, 0);
        _probe();
        _handler.submitJob(0, true);
        for (uint8 who = 2; who < 5; ++who) _handler.openGame(who, 0, true);
        _handler.openGame(0, 0, true);
        _probe();
        _handler.playGame(0, 0);
        _handler.playGame(1, 0);
        _probe();
        // One is lost by the clock, in the second after its last; one is given up.
        _handler.move(3_600, 20);
        _probe();
        _handler.playGame(1, 2);
        _handler.playGame(1, 0);
        _handler.move(1, 20);
        _probe();
        _handler.endGame(0, 13, false);
        _probe();
        _handler.endGame(2, 10, false);
        require(_handler.died() == 1, "nobody conceded, and one ran out of time");
        _probe();
        _handler.endGame(3, 2, false);
        _handler.endGame(1, 2, false);
        _handler.collectEarnings(0);
        _probe();
        // The same again by the same worker: it has no other name.
        _handler.claimJob(1, 0);
        _probe();
        _handler.submitJob(0, false);
        _handler.openGame(2, 1, true);
        _handler.openGame(3, 1, true);
        _handler.openGame(4, 1, true);
        _handler.playGame(5, 0);
        _handler.playGame(6, 0);
        _probe();
        _handler.endGame(4, 0, false);
        _probe();
        _handler.move(1_800, 3);
        _probe();
        _handler.move(3_600, 3);
        // By the worker itself, and by a stranger.
        _handler.endGame(5, 1, false);
        _probe();
        _handler.endGame(6, 13, false);
        _handler.finaliseClaim(1);
        _probe();
        _handler.payClaim(1, true);
        _probe();
        _handler.payClaim(1, false);
        _handler.collectEarnings(1);
        _probe();
    }

    function test_everyEndOfAJob_withstandsWhatNobodyMay() external {
        _handler.stakeOrUnstake(4, 2 ether, 1);
        // Late, and open again; then taken back.
        _handler.postJob(2, 7, false);
        _handler.claimJob(3, 0);
        _probe();
        _handler.move(3_600, 10);
        _probe();
        _handler.move(1, 10);
        _handler.endJob(0, 4);
        _probe();
        _handler.endJob(0, 1);
        _probe();
        // Delivered, by which it is final.
        _handler.postJob(2, 7, false);
        _handler.claimJob(3, 1);
        _handler.submitJob(1, false);
        _handler.move(1_801, 10);
        _probe();
        _handler.payClaim(0, false);
        _probe();
        // A lie that nobody disputes: the fee comes back after a week.
        _handler.postJob(2, 7, false);
        _handler.claimJob(3, 2);
        _handler.submitJob(2, true);
        _handler.move(1_801, 10);
        _probe();
        _handler.finaliseClaim(1);
        _probe();
        _handler.waitAWeek(0);
        _probe();
        _handler.move(1, 10);
        _handler.reclaimFee(1);
        _probe();
        // Out of time.
        _handler.postJob(2, 7, false);
        for (uint256 i = 0; i < 4; ++i) _handler.move(6_600, 10);
        _probe();
        _handler.move(1, 10);
        _handler.endJob(3, 0);
        _probe();
        for (uint256 i = 0; i < 20; ++i) _handler.move(7_100, 10);
        _probe();
        _handler.stakeOrUnstake(4, 0, 2);
        _probe();
        require(_handler.vault().custody() == 0, "something is left");
    }

    /// @dev Whoever ends a claim and all that settle get their parts, what is rounded down goes to the sink, and
    /// nothing is left.
    function test_shortPot_isDividedProRata_andNothingIsLeft() external {
        _handler.move(0, 50);
        _handler.postJob(0, 5, false);
        _handler.claimJob(1, 0);
        _handler.submitJob(0, true);
        _handler.openGame(2, 0, true);
        _handler.openGame(3, 0, true);
        _handler.swarm(3);
        _handler.playGame(0, 0);
        _handler.playGame(0, 3);
        _handler.playGame(2, 0);
        _handler.swarm(255);
        _probe();
        _handler.playGame(0, 0);
        _handler.playGame(0, 0);
        require(_handler.died() == 1 && _handler.shortPots() == 1, "the pot is not short");
        _handler.move(10, 5);
        _handler.endGame(3, 2, false);
        _probe();
        _handler.settleAll();
        _handler.collectEarnings(0);
        // Again, by the clock, and by a stranger.
        _handler.move(0, 60);
        _handler.claimJob(4, 0);
        _handler.submitJob(0, true);
        _handler.swarm(255);
        _handler.openGame(2, 1, true);
        _handler.openGame(3, 1, true);
        _handler.move(3_601, 60);
        _handler.endGame(60, 10, false);
        require(_handler.shortPots() == 2, "the pot is not short");
        _handler.settleAll();
        _handler.endJob(0, 1);
        _probe();
        require(_handler.vault().custody() == 0, "something is left");
    }

    /// @dev As many claims as a stake backs, and one more.
    function test_stake_backsOneClaimAtATime() external {
        _handler.postJob(0, 5, false);
        _handler.claimJob(1, 0);
        (, uint256 staked, uint256 collateral, , ) = _handler.vault().accountOf(_handler.actors(1));
        uint256 backed = staked / collateral;
        for (uint8 j = 1; j < backed; ++j) {
            _handler.postJob(0, 5, false);
            _handler.claimJob(1, j);
        }
        this.invariant_money();
        _handler.postJob(0, 5, false);
        (bool claimed, ) = address(_handler).call(abi.encodeCall(_handler.claimJob, (1, uint8(backed))));
        require(!claimed, "a stake backs more than it is");
    }

    /// @dev Not while its worker has time for another, either.
    function test_refutedClaim_doesNotComeBack() external {
        _handler.postJob(0, 5, true);
        _handler.claimJob(1, 0);
        _handler.submitJob(0, true);
        _handler.openGame(2, 0, true);
        _handler.endGame(0, 0, true);
        _handler.claimJob(1, 0);
        _probe();
    }

    /// @dev Two of three outputs, each delivered and taken once, whatever the consumer does; one fee.
    function test_deliveries_areOnceEach_whateverTheConsumerDoes() external {
        for (uint8 i = 0; i < 10; ++i) {
            (uint8 behaviour, bool accepts) = (i / 2, i % 2 == 1);
            (, uint256 claims, ) = _handler.counts();
            uint8 c = uint8(claims);
            _handler.postForConsumer(1_000);
            _handler.claimJob(1, c);
            _handler.submitJob(c, false);
            _handler.move(1_801, 10);
            for (uint8 again = 0; again < 3; ++again) {
                // Each at once again: what was taken is not given again while another is missing.
                for (uint8 k = 0; k < 6; ++k) {
                    try _handler.deliverOutput(c, k / 2, again == 0 ? behaviour : 0) {} catch {}
                    if (accepts) try _handler.payClaim(c, true) {} catch {}
                    this.invariant_money();
                    _booksAreRight();
                }
            }
            (, , bool paid, ) = _handler.fateOf(c);
            require(paid, "the fee is not paid");
        }
        require(_handler.vault().custody() == 0, "something is left");
    }

    /// @dev A claim with more behind it, taken early; a lie with more behind it; a worker that is late; what is asked
    /// of records, groups and one worker.
    function test_terms_withstandWhatNobodyMay() external {
        _handler.postOnTerms(0, 5, true, EARLY | GROUP | MORE);
        _probe();
        _handler.claimJob(1, 0);
        _probe();
        _handler.submitJob(0, false);
        _handler.openGame(2, 0, true);
        _probe();
        _handler.endGame(0, 0, false);
        _probe();
        _handler.acceptEarly(0);
        _probe();
        _handler.move(1_801, 10);
        _probe();
        // The same worker takes no other of the group.
        _handler.postOnTerms(0, 5, true, GROUP | MORE);
        _probe();
        _handler.claimJob(2, 1);
        _handler.submitJob(1, true);
        _handler.openGame(3, 1, true);
        _handler.openGame(4, 1, true);
        _probe();
        _handler.endGame(1, 0, true);
        _handler.settleAll();
        _probe();
        _handler.claimJob(3, 1);
        _handler.move(3_601, 10);
        _probe();
        _handler.endJob(1, 4);
        _handler.endJob(1, 1);
        // One has been refuted and one late.
        _handler.postOnTerms(0, 5, true, RECORD | MORE);
        _probe();
        _handler.endJob(2, 1);
        _handler.postOnTerms(0, 9, false, RESERVED | MORE);
        _probe();
        _handler.claimAndSubmit(3, false);
        _probe();
        _handler.move(1_801, 10);
        _handler.finaliseClaim(2);
        _handler.payClaim(2, false);
        _probe();
        _handler.waitAWeek(0);
        _handler.move(1, 10);
        _probe();
        require(_handler.vault().custody() == 0, "something is left");
    }

    /// @dev At each moment of a seal that is opened, and of one that is not.
    function test_seals_withstandWhatNobodyMay() external {
        for (uint8 j = 0; j < 2; ++j) {
            _handler.postOnTerms(0, 5, true, SEALED | MORE);
            _handler.claimJob(1, j);
            _probe();
            _handler.submitJob(j, j == 0);
            _probe();
            _handler.move(7_199, 10);
            _handler.move(600, 10);
            _probe();
            _handler.move(1, 10);
            _probe();
            if (j == 0) _handler.openSeal(0, 2);
            else _handler.move(3_600, 10);
            _probe();
            if (j == 0) _handler.openGame(2, 0, true);
            else _handler.move(1, 10);
            _probe();
            if (j == 0) _handler.endGame(0, 0, true);
            else _handler.breakSeal(1, 2);
            _probe();
        }
        // Out of time before it is sealed.
        _handler.postOnTerms(0, 5, true, SEALED);
        _handler.claimJob(1, 2);
        _handler.move(3_601, 10);
        _probe();
        _handler.endJob(2, 4);
        _probe();
        _handler.endJob(0, 1);
        require(_handler.vault().custody() == 0, "something is left");
    }

    function _probe() private {
        (uint256 jobs, uint256 claims, uint256 games) = _handler.counts();
        for (uint8 who = 0; who < 5; ++who) {
            for (uint8 j = 0; j < jobs; ++j) _handler.squat(j, who);
            for (uint8 c = 0; c < claims; ++c) _handler.meddle(c, who);
            for (uint8 g = 0; g < games; ++g) _handler.intrude(g, who);
            _handler.plunder(who);
        }
        this.invariant_money();
        _booksAreRight();
    }
}
