// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ResultConsumer} from "../consumer/ResultConsumer.sol";
import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {JobRequest} from "../interfaces/IMarketEvents.sol";
import {IResultConsumer} from "../interfaces/IResultConsumer.sol";
import {JobId} from "../types/Ids.sol";

enum Behaviour {
    Take,
    Revert,
    BurnGas,
    ReturnBomb,
    Reenter
}

/// @notice A requester contract with a configurable callback.
contract ScriptedRequester is IResultConsumer {
    error NotMarket(address caller);
    error ResultRefused();

    IJobMarket public immutable market;
    Behaviour public behaviour;
    uint256 public results;
    uint256 public gasSeen;
    bytes public lastResult;
    bytes public reentry;
    bool public reentrySucceeded;

    constructor(IJobMarket market_) {
        market = market_;
    }

    function setBehaviour(Behaviour behaviour_) external {
        behaviour = behaviour_;
    }

    function setReentry(bytes calldata call) external {
        reentry = call;
    }

    function post(JobRequest calldata request) external returns (JobId) {
        return market.post(request);
    }

    function onResult(JobId, uint256, bytes calldata data) external {
        require(msg.sender == address(market), NotMarket(msg.sender));
        gasSeen = gasleft();
        if (behaviour == Behaviour.Revert) revert ResultRefused();
        if (behaviour == Behaviour.BurnGas) {
            while (true) ++gasSeen;
        }
        if (behaviour == Behaviour.ReturnBomb) {
            assembly {
                revert(0, 1000000)
            }
        }
        if (behaviour == Behaviour.Reenter) (reentrySucceeded, ) = address(market).call(reentry);
        ++results;
        lastResult = data;
    }
}

/// @notice A dapp that passes on whatever anybody asks, and keeps the last result of each question.
contract PlainDapp is ResultConsumer {
    mapping(JobId jobId => bytes) public resultOf;

    constructor(IJobMarket market_, uint32 minWindow_) ResultConsumer(market_, minWindow_) {}

    function ask(JobRequest calldata request) external returns (JobId) {
        return _ask(request);
    }

    function _onResult(JobId jobId, uint256, bytes calldata data) internal override {
        resultOf[jobId] = data;
    }
}
