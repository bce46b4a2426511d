// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Makes many calls to a contract and tolerates failures.
contract CallProbe {
    /// @notice Returns whether each call succeeds with one word, and the word.
    /// @param gasLimit Gas limit per call.
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
