// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A challenger that is a contract: it calls with calldata that no transaction has paid for.
contract ContractChallenger {
    /// @notice Calls `target` with `data` and, behind it, `padding` bytes that are not zero (a multiple of 32).
    function call(address target, bytes calldata data, uint256 padding) external {
        assembly ("memory-safe") {
            let payload := mload(0x40)
            calldatacopy(payload, data.offset, data.length)
            let end := add(payload, data.length)
            for {
                let word := end
                end := add(end, padding)
            } lt(word, end) {
                word := add(word, 0x20)
            } {
                mstore(word, not(0))
            }
            if iszero(call(gas(), target, 0, payload, sub(end, payload), 0, 0)) {
                returndatacopy(payload, 0, returndatasize())
                revert(payload, returndatasize())
            }
        }
    }

    /// @notice Makes several calls in one transaction.
    function batch(address target, bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool done, bytes memory answer) = target.call(calls[i]);
            if (done) continue;
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
    }
}
