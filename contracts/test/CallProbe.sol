// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Makes many calls of one contract, any of which may fail.
contract CallProbe {
    /// @notice Whether each call succeeds with one word, and that word.
    /// @param gasLimit Of each call.
    function tryAll(
        address target,
        uint256 gasLimit,
        bytes[] calldata calls
    ) external view returns (bool[] memory succeeded, bytes32[] memory words) {
        succeeded = new bool[](calls.length);
        words = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool ok, bytes memory answer) = target.staticcall{gas: gasLimit}(calls[i]);
            if (!ok || answer.length != 32) continue;
            (succeeded[i], words[i]) = (true, bytes32(answer));
        }
    }
}
