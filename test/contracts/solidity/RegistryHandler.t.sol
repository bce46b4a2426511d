// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IProvisioning, StatementScope} from "../../../contracts/interfaces/IProvisioning.sol";
import {ClaimStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {DeviceKit} from "./DeviceKit.t.sol";
import {ProtocolHandler} from "./ProtocolHandler.t.sol";
import {vm} from "./Vm.sol";

/// @notice The protocol with the real registry, and everything that can be called on it, at random.
contract RegistryHandler is ProtocolHandler, DeviceKit {
    /// @dev No game has as many moves.
    uint256 private constant MOST_MOVES = 16;

    /// @notice Lies in their windows that could not be refuted: there may be none.
    uint256 public immortal;
    /// @notice Lies that were refuted.
    uint256 public refutedLies;

    /// @notice A report of some device for some worker, with an endorsement of some manufacturer or without.
    function attestWorker(uint8 who, uint8 device, uint8 maker, uint8 ahead, bool enrols) external {
        _attest(actors[who % 5], device % DEVICES, maker % MAKERS, ahead, enrols, _now);
    }

    /// @notice A statement about all devices, their firmware, or one device.
    function makeStatement(uint8 maker, uint8 scope, uint8 device, bool frozen) external {
        _state(maker % MAKERS, StatementScope(scope % 3), device % DEVICES, frozen);
    }

    function releaseWorker(uint8 who) external {
        _prankAs(actors[who % 5]);
        registry.release();
    }

    /// @notice Shows that a device signed twice under one counter; its owner buys another one.
    function retireKey(uint8 which) external {
        _retire(which % DEVICES);
    }

    /// @notice Time in which reports end.
    function waitADay() external {
        this.move(7_199, 10);
        _now += LIFETIME;
        vm.warp(_now);
    }

    /// @notice Refutes what can be refuted.
    function refuteLies() external {
        for (uint256 c = 0; c < _claims.length; ++c) {
            if (!_isStandingLie(c)) continue;
            try this.refute(c) {
                ++refutedLies;
            } catch {
                ++immortal;
            }
        }
    }

    /// @notice Plays a game to the end of a lie.
    function refute(uint256 c) external {
        _openBy(_swarm[0], c, true);
        uint256 g = _games.length - 1;
        for (uint256 moves = 0; _isStandingLie(c); ++moves) {
            require(moves < MOST_MOVES, "the game does not end");
            this.playGame(uint8(g), 3);
        }
    }

    /// @notice Whether each device backs one worker at most.
    function leasesAreExclusive() external view returns (bool) {
        for (uint256 device = 0; device < DEVICES; ++device) {
            uint256 live;
            for (uint256 i = 0; i < 5; ++i)
                if (registry.deviceOf(actors[i]) == _idOf(device) && registry.isLive(actors[i])) ++live;
            if (live > 1) return false;
        }
        return true;
    }

    function _isStandingLie(uint256 c) private view returns (bool) {
        if (!_lie[_claimId(_claims[c])] || _now >= _windowEnd[c]) return false;
        (ClaimStatus status, , , , ) = market.claimOf(_key(_claims[c]));
        return status == ClaimStatus.Submitted;
    }

    /// @dev Called while the world is built: every actor gets a device of its own.
    function _registry() internal override returns (IProvisioning) {
        address[5] memory all;
        for (uint160 i = 0; i < 5; ++i) all[i] = address(0x1000 + i);
        _deployRegistry(all, _now);
        return registry;
    }

    function _swarmSize() internal pure override returns (uint160) {
        return 1;
    }
}
