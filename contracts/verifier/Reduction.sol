// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {ExactSum} from "./ExactSum.sol";
import {Float} from "./Float.sol";
import {Float64Sum} from "./Float64Sum.sol";
import {HalfSum} from "./HalfSum.sol";
import {Integer} from "./Integer.sol";
import {StepDecoder} from "./StepDecoder.sol";
import {View} from "./ViewDecoder.sol";

/// @title Folds a step's terms. Mirrors src/program/reduction.ts.
library Reduction {
    /// @notice A reduction in progress.
    /// @param sum The sum of terms of float32, float16 or bfloat16.
    /// @param one The float type's 1: the second factor for a sum's terms.
    /// @param value The integer sum, the extremum, or the last match.
    /// @param rank The sort key of the extremum.
    /// @param position The term with the extremum.
    /// @param found 1 after a match.
    /// @param limb The requested limb of a partial sum.
    /// @param limbs The total over words of partial sums.
    /// @param isFloat64 Whether the reduction is a float64 sum, or a total over words of float64 sums.
    /// @param float64Sum The float64 sum or total.
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
        bool isFloat64;
        Float64Sum.Acc float64Sum;
    }

    /// @dev Where `State.one` lies in memory, bytes from the struct's address.
    uint256 private constant STATE_ONE = 0x60;
    /// @dev Above every word's rank.
    int256 private constant HIGHEST = 1 << 100;

    /// @param limb The element's last out digit.
    /// @param radix The radix of that digit.
    function start(
        uint256 reduce,
        uint256 dtype,
        uint256 limb,
        uint256 radix
    ) internal pure returns (State memory state) {
        (state.reduce, state.dtype, state.limb) = (reduce, dtype, limb);
        bool exact = isExactSum(state);
        if (exact) state.one = Float.roundTo(dtype, false, 1, 0, false);
        if (!exact && reduce < StepDecoder.REDUCE_TOTAL) return state;
        uint256 limbs = reduce == StepDecoder.REDUCE_PARTIAL_TOTAL ? radix : StepDecoder.limbsOf(dtype);
        state.isFloat64 = limbs == Float64Sum.LIMBS;
        if (state.isFloat64) state.float64Sum = Float64Sum.start();
    }

    /// @notice Returns whether the reduction is a sum or dot product of floats, whose terms `addProducts` takes
    /// straight from memory.
    function isExactSum(State memory state) internal pure returns (bool) {
        uint256 reduce = state.reduce;
        bool adds = reduce <= StepDecoder.REDUCE_DOT || StepDecoder.isPartial(reduce);
        return adds && DType.isFloat(state.dtype);
    }

    /// @notice Memory address of the float in the word at address `slot`.
    function floatAt(State memory state, uint256 slot) internal pure returns (uint256) {
        unchecked {
            return slot + 32 - (1 << DType.log2Bytes(state.dtype));
        }
    }

    /// @notice Returns the memory address of the second factor for a sum's terms.
    function oneAt(State memory state) internal pure returns (uint256 factor) {
        assembly ("memory-safe") {
            factor := add(state, STATE_ONE)
        }
        return floatAt(state, factor);
    }

    /// @notice Adds `terms` products to the sum, whose factors two views stand on.
    function addProducts(State memory state, View memory a, View memory b, uint256 terms) internal pure {
        uint256 dtype = state.dtype;
        if (dtype == DType.FLOAT32) {
            ExactSum.addProducts(state.sum, a.pointer, a.step, b.pointer, b.step, terms);
        } else if (dtype == DType.FLOAT16) {
            HalfSum.addFloat16(state.sum, a.pointer, a.step, b.pointer, b.step, terms);
        } else if (dtype == DType.BFLOAT16) {
            HalfSum.addBfloat16(state.sum, a.pointer, a.step, b.pointer, b.step, terms);
        } else {
            Float64Sum.addProducts(state.float64Sum, a.pointer, a.step, b.pointer, b.step, terms);
        }
    }

    /// @notice Folds in term `r` with results x and y, for reductions other than exact sums; terms come in increasing
    /// order.
    function add(State memory state, uint256 x, uint256 y, uint256 r) internal pure {
        unchecked {
            uint256 reduce = state.reduce;
            if (reduce >= StepDecoder.REDUCE_TOTAL) {
                if (state.isFloat64) Float64Sum.addLimb(state.float64Sum, r % Float64Sum.LIMBS, x);
                else ExactSum.addLimb(state.limbs, r % ExactSum.LIMBS, x);
            } else if (reduce <= StepDecoder.REDUCE_DOT) {
                state.value += reduce == StepDecoder.REDUCE_DOT ? x * y : x;
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
        bool words = StepDecoder.isPartial(reduce) || reduce == StepDecoder.REDUCE_PARTIAL_TOTAL;
        if (state.isFloat64) {
            return words ? Float64Sum.limb(state.float64Sum, state.limb) : Float64Sum.round(state.float64Sum);
        }
        if (reduce == StepDecoder.REDUCE_TOTAL) return ExactSum.roundLimbs(state.limbs, state.dtype);
        if (reduce == StepDecoder.REDUCE_PARTIAL_TOTAL) return ExactSum.limbOf(state.limbs, state.limb);
        if (words) return ExactSum.limb(state.sum, state.limb);
        if (isExactSum(state)) return ExactSum.round(state.sum, state.dtype);
        if (reduce <= StepDecoder.REDUCE_DOT) return Integer.wrap(state.value, state.dtype);
        bool position = reduce >= StepDecoder.REDUCE_ARGMAX && reduce <= StepDecoder.REDUCE_ARGMIN_LAST;
        return position ? state.position : state.value;
    }

    /// @dev Returns the rank: a larger rank wins. NaN always wins: as the greatest when searching the greatest, as the
    /// least when searching the least.
    function _rank(uint256 reduce, uint256 dtype, uint256 a) private pure returns (int256 rank) {
        unchecked {
            rank = int256(a);
            if (dtype == DType.FLOAT32) {
                if (a & 0x7fffffff > 0x7f800000) return HIGHEST;
                if (a >> 31 != 0) rank = -int256(a & 0x7fffffff);
            } else if (DType.isFloat(dtype)) {
                if (Float.isNaN(a, dtype)) return HIGHEST;
                rank = Float.order(a, dtype);
            }
            // Even codes search the least.
            if (reduce & 1 == 0) rank = -rank;
        }
    }
}
