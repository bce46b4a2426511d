// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Expression} from "./Expression.sol";
import {IElementary} from "./IElementary.sol";
import {ChunkOpening, IStepVerifier} from "./IStepVerifier.sol";
import {Reduction} from "./Reduction.sol";
import {Code, Step, StepDecoder, TensorRef, View} from "./StepDecoder.sol";
import {Tensor, Tensors} from "./Tensor.sol";
import {Views} from "./Views.sol";

/// @title Recomputes one element of one step. Mirrors src/program/evaluate.ts; docs/program.md is the definition of both.
/// @dev Stateless. INVARIANT: past the decoder and the openings nothing depends on data but the value itself: what a view reads out of
/// bounds is its fill value and every operation is total, so that no content of a tensor can make a proof fail.
contract StepVerifier is IStepVerifier {
    /// @dev What one evaluation works on. `slots` is the memory address of slot 0; `axis` is working memory.
    struct Evaluation {
        Step step;
        Tensor[] tensors;
        Views.Axis axis;
        uint256[] digits;
        uint256 slots;
        Reduction.State accumulator;
    }

    /// @notice Where the elementary functions are.
    IElementary public immutable elementary;

    error InputCount(uint256 inputs, uint256 roots, uint256 openings);
    error ElementPastEnd(uint256 element, uint256 count);
    error NoElementaryFunctions(address elementary);

    /// @dev No digit: what a single term counts up.
    uint256 private constant NOTHING = type(uint256).max;

    constructor(IElementary elementary_) {
        require(address(elementary_).code.length != 0, NoElementaryFunctions(address(elementary_)));
        elementary = elementary_;
    }

    /// @inheritdoc IStepVerifier
    function evaluate(
        bytes calldata body,
        uint256 element,
        bytes32[] calldata inputRoots,
        ChunkOpening[] calldata openings
    ) external view returns (uint256 word) {
        Evaluation memory e;
        Step memory step = StepDecoder.decode(body);
        require(element < step.count, ElementPastEnd(element, step.count));
        e.step = step;
        e.tensors = _open(step.inputs, inputRoots, openings);
        e.digits = _outDigits(step, element);
        e.slots = _newSlots();
        e.accumulator = Reduction.start(step.reduce, step.reduceType, e.digits[step.outDigits - 1]);
        if (step.reduce != StepDecoder.REDUCE_NONE) _reduce(e);
        return _epilogue(e);
    }

    function _epilogue(Evaluation memory e) private view returns (uint256) {
        Step memory step = e.step;
        View[] memory views = step.epilogueReads;
        uint256 slots = e.slots;
        uint256 next = views.length;
        Views.placeAll(views, e.axis, e.tensors, e.digits, NOTHING, 1);
        Views.loadAll(views, 0, slots);
        if (step.reduce != StepDecoder.REDUCE_NONE) {
            next = _store(slots, next, Reduction.result(e.accumulator));
            if (step.reduce == StepDecoder.REDUCE_LAST) next = _store(slots, next, e.accumulator.found);
        }
        next = _storeAll(slots, next, step.constants);
        Expression.run(step.epilogue, slots, next, e.digits, elementary);
        return _slot(slots, step.epilogue.outA);
    }

    function _open(
        TensorRef[] memory inputs,
        bytes32[] calldata roots,
        ChunkOpening[] calldata openings
    ) private view returns (Tensor[] memory tensors) {
        uint256 count = inputs.length;
        require(roots.length == count && openings.length == count, InputCount(count, roots.length, openings.length));
        tensors = new Tensor[](count);
        for (uint256 i = 0; i < count; ++i) {
            TensorRef memory ref = inputs[i];
            bytes32 root = ref.kind == StepDecoder.KIND_CONSTANT ? ref.root : roots[i];
            tensors[i] = Tensors.open(i, root, ref.dtype, ref.count, openings[i]);
        }
    }

    /// @dev All digits: those of the output split from its flat index, those of the reduction 0.
    function _outDigits(Step memory step, uint256 element) private pure returns (uint256[] memory digits) {
        digits = new uint256[](step.radices.length);
        for (uint256 d = step.outDigits; d != 0;) {
            --d;
            digits[d] = element % step.radices[d];
            element /= step.radices[d];
        }
    }

    /// @dev Runs over the reduction digits. The last one with more than one value is counted up in blocks of terms for which no view has
    /// to be placed anew.
    function _reduce(Evaluation memory e) private view {
        unchecked {
            Step memory step = e.step;
            uint256[] memory digits = e.digits;
            uint256[] memory radices = step.radices;
            _storeAll(e.slots, step.termReads.length, step.constants);
            uint256 along = radices.length - 1;
            while (along > step.outDigits && radices[along] == 1) --along;
            uint256 radix = radices[along];
            uint256 r = 0;
            while (true) {
                for (uint256 k = 0; k < radix;) {
                    digits[along] = k;
                    uint256 terms = Views.placeAll(step.termReads, e.axis, e.tensors, digits, along, radix - k);
                    if (step.term.length == 0 && Reduction.isExactSum(e.accumulator)) _addFactors(e, terms);
                    else _addTerms(e, along, r, terms);
                    Views.advanceAll(step.termReads, terms);
                    k += terms;
                    r += terms;
                }
                if (r == step.terms) return;
                digits[along] = 0;
                for (uint256 d = along - 1; ++digits[d] == radices[d]; --d) digits[d] = 0;
            }
        }
    }

    /// @dev Folds in terms r .. r + terms - 1, for all of which every view is placed.
    function _addTerms(Evaluation memory e, uint256 along, uint256 r, uint256 terms) private view {
        unchecked {
            Code memory code = e.step.term;
            View[] memory views = e.step.termReads;
            uint256 slots = e.slots;
            uint256[] memory digits = e.digits;
            uint256 next = views.length + e.step.constants.length;
            (uint256 a, uint256 b) = (slots + 32 * code.outA, slots + 32 * code.outB);
            for (uint256 ahead = 0; ahead < terms; ++ahead) {
                Views.loadAll(views, ahead, slots);
                if (code.length != 0) {
                    Expression.run(code, slots, next, digits, elementary);
                    ++digits[along];
                }
                Reduction.add(e.accumulator, a, b, r + ahead);
            }
        }
    }

    /// @dev The same for the sum or dot product of floats as they are read.
    function _addFactors(Evaluation memory e, uint256 terms) private pure {
        Code memory code = e.step.term;
        (uint256 a, uint256 aStep) = _factor(e, code.outA);
        (uint256 b, uint256 bStep) = (Reduction.oneAt(e.accumulator), 0);
        if (StepDecoder.isDot(e.step.reduce)) (b, bStep) = _factor(e, code.outB);
        Reduction.addProducts(e.accumulator, a, aStep, b, bStep, terms);
    }

    /// @dev Address and step of the float in a slot that holds a read or a constant.
    function _factor(Evaluation memory e, uint256 slot) private pure returns (uint256 pointer, uint256 step) {
        View[] memory views = e.step.termReads;
        if (slot < views.length) return (views[slot].pointer, views[slot].step);
        return (Reduction.floatAt(e.accumulator, e.slots + 32 * slot), 0);
    }

    function _newSlots() private pure returns (uint256 slots) {
        uint256 size = 32 * StepDecoder.MAX_SLOTS;
        assembly ("memory-safe") {
            slots := mload(0x40)
            mstore(0x40, add(slots, size))
        }
    }

    function _storeAll(uint256 slots, uint256 next, uint256[] memory words) private pure returns (uint256) {
        for (uint256 i = 0; i < words.length; ++i) next = _store(slots, next, words[i]);
        return next;
    }

    function _store(uint256 slots, uint256 k, uint256 word) private pure returns (uint256) {
        unchecked {
            assembly ("memory-safe") {
                mstore(add(slots, shl(5, k)), word)
            }
            return k + 1;
        }
    }

    function _slot(uint256 slots, uint256 k) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(slots, shl(5, k)))
        }
    }
}
