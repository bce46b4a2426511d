// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents} from "../interfaces/IMarketEvents.sol";
import {IResultConsumer} from "../interfaces/IResultConsumer.sol";
import {JobId} from "../types/Ids.sol";

/// @title Calls a requester with a result: a fixed amount of gas, nothing returned, no way to fail the caller.
library Callback {
    /// @dev Gas for the call itself (2,600 for an untouched account) and for the caller's work after a failed call: a
    /// new storage word (22,100), a word already written (100), an event (below 2,000). The test
    /// `deliver_withTheLeastGasThatIsTaken_givesTheCallbackAllThatWasPromised` of
    /// test/contracts/market/callbacks.test.ts proves that the minimum accepted gas suffices.
    uint256 private constant RESERVE = 40_000;

    /// @notice Calls the requester with one output.
    /// @param gasLimit Gas of the call.
    /// @param data The output's bytes.
    /// @return ok Whether the requester took the result: its call did not revert.
    function onResult(
        address requester,
        uint256 gasLimit,
        JobId jobId,
        uint256 output,
        bytes calldata data
    ) internal returns (bool ok) {
        bytes memory payload = abi.encodeCall(IResultConsumer.onResult, (jobId, output, data));
        // SAFETY: a caller must not make the callback fail by bringing too little gas; a call passes on at most 63/64.
        uint256 available = gasleft();
        uint256 needed = ((gasLimit + RESERVE) * 64) / 63;
        require(available >= needed, IMarketEvents.TooLittleGas(available, needed));
        assembly ("memory-safe") {
            // The payload's bytes follow its length. SAFETY: no return data is copied, whatever its length.
            ok := call(gasLimit, requester, 0, add(payload, 0x20), mload(payload), 0, 0)
        }
    }
}
