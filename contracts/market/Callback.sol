// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {IResultConsumer} from "../interfaces/IResultConsumer.sol";

/// @title Calls a requester with a result: a fixed amount of gas, nothing returned, no way to fail the caller.
library Callback {
    /// @dev For the call itself and for what the caller still has to do.
    uint256 private constant RESERVE = 40_000;

    /// @notice Whether the requester took the result.
    function onResult(
        address requester,
        uint256 gasLimit,
        bytes32 jobId,
        uint256 output,
        bytes calldata data
    ) internal returns (bool ok) {
        bytes memory payload = abi.encodeCall(IResultConsumer.onResult, (jobId, output, data));
        // SAFETY: a caller must not make the callback fail by bringing too little gas; a call passes on at most 63/64.
        uint256 available = gasleft();
        uint256 needed = ((gasLimit + RESERVE) * 64) / 63;
        require(available >= needed, IJobMarket.TooLittleGas(available, needed));
        assembly ("memory-safe") {
            // The payload's bytes follow its length.
            // SAFETY: no return data is copied, however much there is.
            ok := call(gasLimit, requester, 0, add(payload, 0x20), mload(payload), 0, 0)
        }
    }
}
