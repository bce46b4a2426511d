// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LeagueHandler} from "./LeagueHandler.t.sol";
import {TrespassHandler} from "./TrespassHandler.t.sol";

/// @notice The protocol that the league plays on.
contract LeagueWorld is TrespassHandler {}

/// @notice Honest sides against a league, over random sequences of calls.
contract LeagueInvariants {
    LeagueHandler private _league;

    function setUp() external {
        _league = new LeagueHandler(new LeagueWorld());
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_league);
    }

    function excludeSelectors() external view returns (FuzzSelector[] memory excluded) {
        excluded = new FuzzSelector[](1);
        excluded[0].addr = address(_league);
        excluded[0].selectors = new bytes4[](1);
        excluded[0].selectors[0] = LeagueHandler.windDown.selector;
    }

    /// @dev The name and the fields are the test runner's.
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function invariant_honestSidesWin() external view {
        require(_league.world().honestDied() == 0, "an honest claim died by a proof");
        require(_league.liesThatStand() == 0, "a lie stands");
        require(_league.stuck() == 0, "an honest side had no legal move");
        require(_league.world().wrongPayouts() == 0, "an end of a game paid something else");
        require(_league.world().unsettled() == 0, "a game of a dead claim cannot be settled");
        require(_league.world().wrongDeliveries() == 0, "a delivery told, called or paid something else");
        require(_league.world().trespasses() == 0, _league.world().trespass());
        // Nothing is paid twice, and nothing is kept.
        require(_league.world().vault().custody() == _league.world().promised(), "custody is not what is promised");
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _league.windDown();
        _league.checkMoney();
    }

    /// @dev Checks of the handler: these sequences reach what it is for.
    function test_lieOfTheLeague_isRefuted_andTheLeaguePays() external {
        _league.post(false, 5, false);
        _league.claimJob(0, 0);
        _league.submit(0, true);
        _league.open(1, 0);
        _league.pass(1_801, 12);
        (, , uint256 games) = _league.world().counts();
        require(games == 2, "the honest challenger sleeps");
        _league.windDown();
        _league.checkMoney();
        require(_league.world().vault().custody() == 0 && _league.liesThatStand() == 0, "the lie stands");
    }

    function test_shamGames_onAnHonestClaim_payTheWorker() external {
        _league.post(true, 5, true);
        _league.honestlyWork(0, false);
        _league.open(0, 0);
        _league.open(1, 0);
        _league.windDown();
        _league.checkMoney();
        require(_league.world().finalisedCount() == 1, "the honest claim does not stand");
    }
}
