// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Reports the executed places to the tests' chain.
library Listener {
    /// @notice Execution is at place `id`. In assembly: `HEAR` of listener.ts.
    function hear(uint256 id) internal view {
        assembly ("memory-safe") {
            listenerHear(id)
        }
    }
}
