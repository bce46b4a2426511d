// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Floats} from "../consumer/Floats.sol";
import {ResultConsumer} from "../consumer/ResultConsumer.sol";
import {IJobMarket, JobRequest} from "../interfaces/IJobMarket.sol";
import {JobId} from "../types/Ids.sol";

contract Oracle is ResultConsumer {
    error AnotherProgram(bytes32 given);

    bytes32 public immutable programRoot;
    /// The first number of the output, in millionths.
    mapping(JobId jobId => int256) public answerOf;

    constructor(IJobMarket market_, bytes32 programRoot_, uint32 minWindow_) ResultConsumer(market_, minWindow_) {
        programRoot = programRoot_;
    }

    function ask(JobRequest calldata r) external returns (JobId jobId) {
        // 1. Check the program: anybody may ask, and the answer of another model means nothing.
        bytes32 root = sha256(
            bytes.concat(bytes1(0), r.program.header, r.program.stepsRoot, r.program.checkpointsRoot)
        );
        require(root == programRoot, AnotherProgram(root));
        return _ask(r);
    }

    function _onResult(JobId jobId, uint256, bytes calldata data) internal override {
        // 2. Numbers are little-endian float32, which Floats reads.
        answerOf[jobId] = Floats.fixedAt(data, 0, 6);
    }
}
