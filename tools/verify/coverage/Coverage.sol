// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Listener} from "./Listener.sol";

/// @title Reports the executed points to the tests' chain.
library Coverage {
    /// @notice Execution is at point `id`.
    function at(uint256 id) internal view {
        Listener.hear(id);
    }

    /// @notice Returns the condition; reports point `id` if true, the next point if false.
    function decide(uint256 id, bool condition) internal view returns (bool) {
        at(condition ? id : id + 1);
        return condition;
    }
}
