// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice A challenger contract: sends calldata for which no transaction has paid.
contract ContractChallenger {
    /// @notice Calls `target` with `data` followed by `padding` nonzero bytes (a multiple of 32).
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
