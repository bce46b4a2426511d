// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "./DType.sol";
import {ExactSum} from "./ExactSum.sol";
import {Integer} from "./Integer.sol";
import {StepDecoder} from "./StepDecoder.sol";

/// @title Folds a step's terms. Mirrors src/program/reduction.ts.
library Reduction {
    /// @notice A reduction under way.
    /// @param value The integer sum, the extremum, or the last match.
    /// @param rank What orders the extremum.
    /// @param position The term at which the extremum stands.
    /// @param found 1 after a match.
    struct State {
        uint256 reduce;
        uint256 dtype;
        ExactSum.Acc sum;
        uint256 value;
        int256 rank;
        uint256 position;
        uint256 found;
    }

    /// @dev Above every word's rank.
    int256 private constant HIGHEST = 1 << 100;

    /// @notice Folds in term `r`; terms come in increasing order.
    function add(State memory state, uint256 a, uint256 b, uint256 r) internal pure {
        unchecked {
            uint256 reduce = state.reduce;
            if (reduce <= StepDecoder.REDUCE_DOT) {
                bool dot = reduce == StepDecoder.REDUCE_DOT;
                if (state.dtype != DType.FLOAT32) state.value += dot ? a * b : a;
                else if (dot) ExactSum.addProduct(state.sum, a, b);
                else ExactSum.addTerm(state.sum, a);
            } else if (reduce == StepDecoder.REDUCE_LAST) {
                if (a != 0) (state.value, state.found) = (b, 1);
            } else {
                int256 rank = _rank(reduce, state.dtype, a);
                bool ties = reduce >= StepDecoder.REDUCE_ARGMAX_LAST;
                if (r == 0 || rank > state.rank || (ties && rank == state.rank)) {
                    (state.value, state.rank, state.position) = (a, rank, r);
                }
            }
        }
    }

    /// @notice The accumulator's word. (For `last`, `state.found` is the second one.)
    function result(State memory state) internal pure returns (uint256) {
        uint256 reduce = state.reduce;
        if (reduce <= StepDecoder.REDUCE_DOT) {
            return state.dtype == DType.FLOAT32 ? ExactSum.round(state.sum) : Integer.wrap(state.value, state.dtype);
        }
        bool position = reduce >= StepDecoder.REDUCE_ARGMAX && reduce <= StepDecoder.REDUCE_ARGMIN_LAST;
        return position ? state.position : state.value;
    }

    /// @dev The larger, the better. NaN is best of all: greatest where the greatest is searched, least where the least is.
    function _rank(uint256 reduce, uint256 dtype, uint256 a) private pure returns (int256 rank) {
        unchecked {
            rank = int256(a);
            if (dtype == DType.FLOAT32) {
                if (a & 0x7fffffff > 0x7f800000) return HIGHEST;
                if (a >> 31 != 0) rank = -int256(a & 0x7fffffff);
            }
            // Even codes search the least.
            if (reduce & 1 == 0) rank = -rank;
        }
    }
}
