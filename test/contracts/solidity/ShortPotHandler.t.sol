// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Parameters} from "../../../contracts/types/Parameters.sol";
import {TrespassHandler} from "./TrespassHandler.t.sol";

/// @notice As TrespassHandler, with the least collateral that a deployment may have and so many challengers that a dead
/// claim's pot is often short: then all its games get their parts of it.
contract ShortPotHandler is TrespassHandler {
    mapping(uint256 claim => uint256) private _swarmed;

    constructor() {
        token.mint(address(this), 50 ether);
        token.approve(address(vault), 50 ether);
        vault.deposit(address(consumer), 50 ether);
    }

    /// @notice A lie that all challenge at once, so that random sequences get there.
    function lure(uint8 who, uint64 fee) external {
        this.postJob(who, fee, true);
        _submitNow(who, true);
        this.swarm(type(uint8).max);
    }

    /// @notice A job of the consumer, worked on and out of dispute, so that random sequences get to its deliveries.
    function serve(uint8 who, uint64 fee) external {
        this.postForConsumer(fee);
        _submitNow(who, false);
        this.move(1_801, 20);
    }

    /// @notice The same of the latest claim.
    function deliverLatest(uint8 output, uint8 behaviour) external {
        deliverOutput(uint8(_claims.length - 1), output, behaviour);
    }

    /// @notice All that challenge and do nothing else open a game on the latest claim, or so many of them.
    function swarm(uint8 count) external {
        uint256 c = _claims.length - 1;
        for (uint256 i = 0; i < count && _swarmed[c] < _swarm.length; ++i) _openBy(_swarm[_swarmed[c]++], c, true);
    }

    /// @notice Settles what can be settled.
    function settleAll() external {
        for (uint256 i = 0; i < _games.length; ++i) {
            uint256 c = _claimOf[_games[i]];
            (, bool dead, , ) = game.claimGames(_claimId(_claims[c]));
            if (dead && _isOpen(i, c)) _settle(_games[i], c, actors[i % 5]);
        }
    }

    function _submitNow(uint8 who, bool lie) private {
        uint8 job = uint8(_jobs.length - 1);
        claimJob(who, job);
        submitJob(job, lie);
    }

    function _swarmSize() internal pure override returns (uint160) {
        return 56;
    }

    function _parameters() internal pure override returns (Parameters memory p) {
        p = super._parameters();
        p.maxStepGas = 1_000_000;
        p.collateral = 0.2097 ether;
    }
}
