// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What moves are worth in gas. A worker's moves are paid from the challenger's bond, a challenger's own ones from the collateral of a claim that dies.
/// @dev Close above what the transactions measure (test/contracts/gas.test.ts): less would starve the honest, more would pay for sham games.
library GasSchedule {
    uint256 internal constant OPEN = 113_000;
    uint256 internal constant PICK = 60_500;
    uint256 internal constant PICK_SEAM = 10_500;
    uint256 internal constant CHUNK = 66_000;
    uint256 internal constant EXPAND = 57_500;
    uint256 internal constant REVEAL = 56_000;
    uint256 internal constant CHILD = 900;
    uint256 internal constant CLOSE = 85_000;
    /// @dev What a step proof costs beside the estimate in the header.
    uint256 internal constant PROVE_MARGIN = 200_000;
    /// @dev Levels that the largest games are assumed to have: 12 of checkpoints, 12 of steps, 20 of chunks.
    uint256 private constant LEVELS_TRACE = 12;
    uint256 private constant LEVELS_INTERIOR = 12;
    uint256 private constant LEVELS_TENSOR = 20;

    /// @notice Gas of revealing `2^hop` children.
    function reveal(uint256 hop) internal pure returns (uint256) {
        return REVEAL + (CHILD << hop);
    }

    /// @notice Gas of an expansion with `2^hop` children.
    function expand(uint256 hop) internal pure returns (uint256) {
        return EXPAND + (CHILD << hop);
    }

    /// @notice The most gas that a worker spends in one game with arity 2^k.
    function worstWorker(uint256 k) internal pure returns (uint256) {
        // The expansion carries the interior list's first reveal.
        uint256 reveals = _ceil(LEVELS_TRACE, k) + _ceil(LEVELS_INTERIOR, k) - 1 + _ceil(LEVELS_TENSOR, k);
        return reveals * reveal(k) + expand(k) + CHUNK + CLOSE;
    }

    /// @notice The most gas that a challenger spends in one game with arity 2^k and step proofs up to `maxStepGas`.
    function worstChallenger(uint256 k, uint256 maxStepGas) internal pure returns (uint256) {
        uint256 picks = _ceil(LEVELS_TRACE, k) + _ceil(LEVELS_INTERIOR, k) + _ceil(LEVELS_TENSOR, k);
        return OPEN + picks * PICK + 2 * PICK_SEAM + maxStepGas + PROVE_MARGIN;
    }

    /// @notice Gas of this transaction so far, if it is a call from outside that began with `gasAtStart` left: EIP-7623's rule.
    function transactionGas(uint256 gasAtStart) internal view returns (uint256) {
        uint256 zeros = _zeroBytes();
        uint256 others = msg.data.length - zeros;
        uint256 used = gasAtStart - gasleft() + 16 * others + 4 * zeros;
        uint256 floor = 40 * others + 10 * zeros;
        return 21_000 + (used > floor ? used : floor);
    }

    /// @dev Zero bytes of the calldata, a word at a time.
    function _zeroBytes() private pure returns (uint256 zeros) {
        assembly ("memory-safe") {
            let low := 0x7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f
            let ones := 0x0101010101010101010101010101010101010101010101010101010101010101
            let size := calldatasize()
            for {
                let offset := 0
            } lt(offset, size) {
                offset := add(offset, 0x20)
            } {
                let word := calldataload(offset)
                // The high bit of each byte that is zero.
                let marks := not(or(or(add(and(word, low), low), word), low))
                zeros := add(zeros, shr(248, mul(shr(7, marks), ones)))
            }
            // calldataload pads the last word.
            zeros := sub(zeros, and(sub(0, size), 0x1f))
        }
    }

    function _ceil(uint256 levels, uint256 k) private pure returns (uint256) {
        return (levels + k - 1) / k;
    }
}
