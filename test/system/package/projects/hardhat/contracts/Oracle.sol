// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ResultConsumer} from "refute/contracts/consumer/ResultConsumer.sol";
import {IJobMarket} from "refute/contracts/interfaces/IJobMarket.sol";
import {JobId} from "refute/contracts/types/Ids.sol";

contract Oracle is ResultConsumer {
    mapping(JobId jobId => bytes) public answers;

    constructor(IJobMarket market, uint32 minWindow) ResultConsumer(market, minWindow) {}

    function _onResult(JobId jobId, uint256, bytes calldata data) internal override {
        answers[jobId] = data;
    }
}
