// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Listener} from "./Listener.sol";

/// @title Reports what is executed to the chain of the tests.
library Coverage {
    /// @notice Execution is at point `id`.
    function at(uint256 id) internal view {
        Listener.hear(id);
    }

    /// @notice The condition itself; reports point `id` where it holds, of the next one where it does not.
    function decide(uint256 id, bool condition) internal view returns (bool) {
        at(condition ? id : id + 1);
        return condition;
    }
}
