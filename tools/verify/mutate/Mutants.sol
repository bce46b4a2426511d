// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Listener} from "./Listener.sol";

/// @title The active mutant, chosen by the chain's coinbase: one build serves all mutants.
/// @dev Mutant 0 is the unchanged contract; under mutant 0 the chain learns which mutants the execution passes.
library Mutants {
    uint160 private constant BASE = 0x4d757461740000000000;
    /// @notice Whether mutant `id` is alive.
    function on(uint256 id) internal view returns (bool alive) {
        uint160 coinbase = uint160(address(block.coinbase));
        alive = coinbase == BASE + id;
        if (coinbase == BASE) Listener.hear(id);
    }
}
