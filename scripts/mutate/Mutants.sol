// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Which mutant is alive: the chain's coinbase says it, so that one build serves all.
library Mutants {
    uint160 private constant BASE = 0x4d757461740000000000;

    /// @notice Whether mutant `id` is alive.
    function on(uint256 id) internal pure returns (bool) {
        return _asPure(_on)(id);
    }

    function _on(uint256 id) private view returns (bool) {
        return uint160(address(block.coinbase)) == BASE + id;
    }

    /// @dev Reading the coinbase is no state, but Solidity calls it one; pure functions must have mutants too.
    function _asPure(
        function(uint256) view returns (bool) f
    ) private pure returns (function(uint256) pure returns (bool) g) {
        assembly {
            g := f
        }
    }
}
