// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobFees} from "../consumer/JobFees.sol";
import {Terms} from "../types/Terms.sol";

/// @title Exposes the fee estimates as contract functions.
contract JobFeesHarness {
    function jobGas(JobFees.Shape memory shape) external pure returns (uint256) {
        return JobFees.jobGas(shape);
    }

    function coveringFee(JobFees.Shape memory shape, uint256 gasPrice) external pure returns (uint256) {
        return JobFees.coveringFee(shape, gasPrice);
    }

    function coveringFeeOnTerms(
        JobFees.Shape memory shape,
        Terms memory terms,
        uint256 gasPrice
    ) external pure returns (uint256) {
        return JobFees.coveringFee(shape, terms, gasPrice);
    }
}
