// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProtocolHandler} from "./ProtocolHandler.t.sol";

/// @notice Invariants of the money, over random sequences of calls.
contract ProtocolInvariants {
    ProtocolHandler private _handler;

    function setUp() external {
        _handler = new ProtocolHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @dev One campaign for all: it is the calls that take the time.
    function invariant_money() external view {
        require(_handler.honestDied() == 0, "an honest claim died by a proof");
        _vaultHoldsWhatItOwes();
        _custodyIsWhatIsPromised();
        _lockedIsExactAndAtMostTheStake();
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
}
