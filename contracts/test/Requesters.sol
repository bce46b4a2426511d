// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IJobMarket, JobRequest} from "../interfaces/IJobMarket.sol";
import {IResultConsumer} from "../interfaces/IResultConsumer.sol";

enum Mood {
    Take,
    Revert,
    BurnGas,
    ReturnBomb,
    Reenter
}

/// @notice A requester contract whose callback behaves as it is told.
contract MoodyRequester is IResultConsumer {
    error NotMarket(address caller);
    error BadMood();

    IJobMarket public immutable market;
    Mood public mood;
    uint256 public results;
    uint256 public gasSeen;
    bytes public lastResult;
    bytes public reentry;
    bool public reentrySucceeded;

    constructor(IJobMarket market_) {
        market = market_;
    }

    function setMood(Mood mood_) external {
        mood = mood_;
    }

    function setReentry(bytes calldata call) external {
        reentry = call;
    }

    function post(JobRequest calldata request) external returns (bytes32) {
        return market.post(request);
    }

    function onResult(bytes32, uint256, bytes calldata data) external {
        require(msg.sender == address(market), NotMarket(msg.sender));
        gasSeen = gasleft();
        if (mood == Mood.Revert) revert BadMood();
        if (mood == Mood.BurnGas) {
            while (true) ++gasSeen;
        }
        if (mood == Mood.ReturnBomb) {
            assembly {
                revert(0, 1000000)
            }
        }
        if (mood == Mood.Reenter) (reentrySucceeded, ) = address(market).call(reentry);
        ++results;
        lastResult = data;
    }
}
