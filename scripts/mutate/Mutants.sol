// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Which mutant is alive: the chain's coinbase says it, so that one build serves all.
/// @dev Mutant 0 is the contract as it is; under it the chain is told which mutants the execution passes.
library Mutants {
    uint160 private constant BASE = 0x4d757461740000000000;
    /// @dev Where Hardhat's chain listens for what is executed.
    address private constant LISTENER = 0xc0bEc0BEc0BeC0bEC0beC0bEC0bEC0beC0beC0BE;

    /// @notice Whether mutant `id` is alive.
    function on(uint256 id) internal pure returns (bool) {
        return _asPure(_on)(id);
    }

    function _on(uint256 id) private view returns (bool alive) {
        uint160 coinbase = uint160(address(block.coinbase));
        alive = coinbase == BASE + id;
        if (coinbase == BASE) {
            assembly ("memory-safe") {
                // The scratch space is put back: what is between two statements there is theirs.
                let scratch := mload(0)
                mstore(0, id)
                pop(staticcall(gas(), LISTENER, 0, 32, 0, 0))
                mstore(0, scratch)
            }
        }
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
