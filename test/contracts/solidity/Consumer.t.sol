// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket} from "../../../contracts/interfaces/IJobMarket.sol";
import {Delivery} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IResultConsumer} from "../../../contracts/interfaces/IResultConsumer.sol";
import {JobId} from "../../../contracts/types/Ids.sol";
import {Claim} from "../../../contracts/types/Job.sol";

/// @notice A requester that takes results, refuses them, or calls the market from inside.
contract Consumer is IResultConsumer {
    uint8 private constant REFUSES = 1;
    uint8 private constant DELIVERS = 2;
    uint8 private constant ACCEPTS = 3;
    uint8 private constant ACCEPTS_AND_REFUSES = 4;

    IJobMarket private immutable _market;
    /// @notice Calls that succeeded, by job and output.
    mapping(JobId jobId => mapping(uint256 output => uint256)) public taken;
    /// @notice Fees that it released from inside since it was prepared.
    uint256 public acceptances;
    uint8 private _behaviour;
    Claim private _claim;
    Delivery private _other;

    constructor(IJobMarket market) {
        _market = market;
    }

    /// @notice Says what it does at the next calls. @param other Another output, to be delivered from inside.
    function prepare(uint8 behaviour, Claim calldata claim, Delivery calldata other) external {
        _behaviour = behaviour % 5;
        _claim = claim;
        _other = other;
        acceptances = 0;
    }

    function onResult(JobId jobId, uint256 output, bytes calldata data) external {
        require(msg.sender == address(_market) && _behaviour != REFUSES);
        ++taken[jobId][output];
        if (_behaviour >= ACCEPTS) {
            try _market.accept(_claim) {
                ++acceptances;
            } catch {}
        }
        require(_behaviour != ACCEPTS_AND_REFUSES);
        if (_behaviour != DELIVERS) return;
        // Inside, it takes whatever comes. This one again, and another.
        _behaviour = 0;
        Delivery memory own = _other;
        (own.output, own.data) = (uint32(output), data);
        try _market.deliver(_claim, own) {} catch {}
        try _market.deliver(_claim, _other) {} catch {}
    }
}
