// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Reason} from "../../../contracts/interfaces/IProvisioning.sol";
import {RegistryHandler} from "./RegistryHandler.t.sol";

/// @notice Whatever is called on the registry, over random sequences of calls: every lie in its window can be refuted.
contract RegistryInvariants {
    RegistryHandler private _handler;

    function setUp() external {
        _handler = new RegistryHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    function invariant_everyLieCanBeRefuted() external view {
        require(_handler.immortal() == 0, "a lie could not be refuted");
        require(_handler.honestDied() == 0, "an honest claim died by a proof");
        require(_handler.unsettled() == 0, "a game of a dead claim cannot be settled");
        require(_handler.wrongPayouts() == 0, "an end of a game paid something else");
        require(_handler.leasesAreExclusive(), "a device backs two workers");
    }

    /// @dev Once for each sequence.
    function afterInvariant() external {
        _handler.refuteLies();
        this.invariant_everyLieCanBeRefuted();
    }

    /// @dev Checks of the handler: these sequences reach what it is for.
    function test_lie_isRefuted_afterItsWorkersDeviceIsFrozenRetiredOrReleased() external {
        for (uint8 how = 0; how < 3; ++how) {
            _handler.postJob(0, 5, false);
            _handler.claimJob(how + 1, how);
            _handler.submitJob(how, true);
            if (how == 0) _handler.makeStatement(0, 2, how + 1, true);
            else if (how == 1) _handler.retireKey(how + 1);
            else _handler.releaseWorker(how + 1);
        }
        Reason[3] memory reasons = [Reason.DeviceFrozen, Reason.KeyRetired, Reason.NoDevice];
        for (uint8 how = 0; how < 3; ++how) {
            (Reason reason, ) = _handler.registry().whyNotEligible(_handler.actors(how + 1));
            require(reason == reasons[how], "the worker is eligible still");
        }
        _handler.refuteLies();
        require(_handler.refutedLies() == 3 && _handler.immortal() == 0, "a lie lives");
    }

    function test_device_goesFromWorkerToWorker() external {
        _handler.releaseWorker(1);
        _handler.attestWorker(2, 1, 0, 0, false);
        require(_handler.registry().isLive(_handler.actors(2)), "not live");
        _handler.attestWorker(1, 5, 1, 3, true);
        require(_handler.registry().isLive(_handler.actors(1)), "not live with another device");
        _handler.waitADay();
        require(!_handler.registry().isLive(_handler.actors(2)), "live for ever");
        _handler.attestWorker(3, 1, 0, 0, false);
        require(_handler.registry().isLive(_handler.actors(3)), "not live with an expired device");
        require(_handler.leasesAreExclusive(), "a device backs two workers");
    }
}
