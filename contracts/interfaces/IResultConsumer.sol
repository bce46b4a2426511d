// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {JobId} from "../types/Ids.sol";

/// @title What a requester's contract implements to receive results.
interface IResultConsumer {
    /// @notice Receives one output of a finalised job. Only the market calls this function, with exactly the job's
    /// `callbackGas`, until one call per output succeeds.
    /// @dev The callee must check that `msg.sender` is the market and that it posted `jobId`.
    /// @param jobId The job.
    /// @param output Number of the output.
    /// @param data The output tensor: little-endian, row-major.
    function onResult(JobId jobId, uint256 output, bytes calldata data) external;
}
