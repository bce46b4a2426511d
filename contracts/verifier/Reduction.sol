// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "./DType.sol";
import {ExactSum} from "./ExactSum.sol";
import {Float32} from "./Float32.sol";
import {Integer} from "./Integer.sol";
import {StepDecoder} from "./StepDecoder.sol";

/// @title Folds a step's terms. Mirrors src/program/reduction.ts.
library Reduction {
    /// @notice A reduction under way.
    /// @param one float32's 1: the second factor of the terms of a sum.
    /// @param value The integer sum, the extremum, or the last match.
    /// @param rank What orders the extremum.
    /// @param position The term at which the extremum stands.
    /// @param found 1 after a match.
    /// @param limb The limb of a partial sum that is asked for.
    /// @param limbs The total.
    struct State {
        uint256 reduce;
        uint256 dtype;
        ExactSum.Acc sum;
        uint256 one;
        uint256 value;
        int256 rank;
        uint256 position;
        uint256 found;
        uint256 limb;
        ExactSum.Limbs limbs;
    }

    /// @dev Above every word's rank.
    int256 private constant HIGHEST = 1 << 100;
    /// @dev Where the float32 stands in a word in memory.
    uint256 private constant FLOAT_OFFSET = 28;

    /// @param limb The element's last out digit.
    function start(uint256 reduce, uint256 dtype, uint256 limb) internal pure returns (State memory state) {
        (state.reduce, state.dtype, state.one, state.limb) = (reduce, dtype, Float32.ONE, limb);
    }

    /// @notice Whether this is a float32 sum or dot product, whose terms `addProducts` takes straight from memory.
    function isExactSum(State memory state) internal pure returns (bool) {
        uint256 reduce = state.reduce;
        bool adds = reduce <= StepDecoder.REDUCE_DOT || reduce >= StepDecoder.REDUCE_PARTIAL_SUM;
        return adds && state.dtype == DType.FLOAT32;
    }

    /// @notice Memory address of the float32 in the word at address `slot`.
    function floatAt(uint256 slot) internal pure returns (uint256) {
        unchecked {
            return slot + FLOAT_OFFSET;
        }
    }

    /// @notice Memory address of the second factor of a sum's terms.
    function oneAt(State memory state) internal pure returns (uint256 factor) {
        assembly ("memory-safe") {
            // The struct's fourth word.
            factor := add(state, add(0x60, FLOAT_OFFSET))
        }
    }

    /// @notice Folds in term `r`, whose results are the words at memory addresses `a` and `b`; terms come in increasing order.
    function add(State memory state, uint256 a, uint256 b, uint256 r) internal pure {
        unchecked {
            uint256 reduce = state.reduce;
            (uint256 x, uint256 y) = (_word(a), _word(b));
            if (reduce == StepDecoder.REDUCE_TOTAL) {
                ExactSum.addLimb(state.limbs, r % StepDecoder.LIMBS, x);
            } else if (reduce <= StepDecoder.REDUCE_DOT || reduce > StepDecoder.REDUCE_LAST) {
                bool dot = StepDecoder.isDot(reduce);
                if (state.dtype != DType.FLOAT32) state.value += dot ? x * y : x;
                else ExactSum.addProducts(state.sum, floatAt(a), 0, dot ? floatAt(b) : oneAt(state), 0, 1);
            } else if (reduce == StepDecoder.REDUCE_LAST) {
                if (x != 0) (state.value, state.found) = (y, 1);
            } else {
                int256 rank = _rank(reduce, state.dtype, x);
                bool ties = reduce >= StepDecoder.REDUCE_ARGMAX_LAST;
                if (r == 0 || rank > state.rank || (ties && rank == state.rank)) {
                    (state.value, state.rank, state.position) = (x, rank, r);
                }
            }
        }
    }

    /// @notice The accumulator's word. (For `last`, `state.found` is the second one.)
    function result(State memory state) internal pure returns (uint256) {
        uint256 reduce = state.reduce;
        if (reduce == StepDecoder.REDUCE_TOTAL) return ExactSum.roundLimbs(state.limbs);
        if (reduce > StepDecoder.REDUCE_LAST) return ExactSum.limb(state.sum, state.limb);
        if (isExactSum(state)) return ExactSum.round(state.sum);
        if (reduce <= StepDecoder.REDUCE_DOT) return Integer.wrap(state.value, state.dtype);
        bool position = reduce >= StepDecoder.REDUCE_ARGMAX && reduce <= StepDecoder.REDUCE_ARGMIN_LAST;
        return position ? state.position : state.value;
    }

    function _word(uint256 slot) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(slot)
        }
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
