// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ResultConsumer} from "refute-ml/contracts/consumer/ResultConsumer.sol";
import {IJobMarket, JobRequest} from "refute-ml/contracts/interfaces/IJobMarket.sol";
import {JobId} from "refute-ml/contracts/types/Ids.sol";

/// @title Asks a model which species an iris is, and holds the answers.
contract IrisOracle is ResultConsumer {
    error WrongProgram(bytes32 expected, bytes32 given);

    event Classified(JobId indexed jobId, bytes scores);

    /// @notice The program whose answers are taken: an answer of any other would mean nothing.
    bytes32 public immutable programRoot;
    /// @notice The answer to a question: three float32, little-endian; empty before it is final.
    mapping(JobId jobId => bytes) public scoresOf;

    /// @param market_ The market to ask.
    /// @param programRoot_ As `refute model compile` prints it.
    /// @param minWindow_ Seconds in which watchers may dispute an answer, at least.
    constructor(IJobMarket market_, bytes32 programRoot_, uint32 minWindow_) ResultConsumer(market_, minWindow_) {
        programRoot = programRoot_;
    }

    /// @notice Asks. The caller must have approved the fee, and gets it back if there is no answer (`refund`).
    /// @param request What `jobRequest` of the SDK makes of the program, the inputs and the terms.
    function ask(JobRequest calldata request) external returns (JobId jobId) {
        bytes32 root = sha256(
            abi.encodePacked(
                bytes1(0),
                request.program.header,
                request.program.stepsRoot,
                request.program.checkpointsRoot
            )
        );
        require(root == programRoot, WrongProgram(programRoot, root));
        return _ask(request);
    }

    /// @inheritdoc ResultConsumer
    function _onResult(JobId jobId, uint256, bytes calldata data) internal override {
        scoresOf[jobId] = data;
        emit Classified(jobId, data);
    }
}
