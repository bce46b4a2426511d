// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ResultConsumer} from "refute/contracts/consumer/ResultConsumer.sol";
import {IJobMarket} from "refute/contracts/interfaces/IJobMarket.sol";

contract Oracle is ResultConsumer {
    mapping(bytes32 jobId => bytes) public answers;

    constructor(IJobMarket market, uint32 minWindow) ResultConsumer(market, minWindow) {}

    function _onResult(bytes32 jobId, uint256, bytes calldata data) internal override {
        answers[jobId] = data;
    }
}
