// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "./DType.sol";
import {ExactSum} from "./ExactSum.sol";
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
        Step memory step = StepDecoder.decode(body);
        require(element < step.count, ElementPastEnd(element, step.count));
        Tensor[] memory tensors = _open(step.inputs, inputRoots, openings);
        uint256[] memory digits = _outDigits(step, element);

        uint256 slots = _slots();
        uint256 next = 0;
        Reduction.State memory accumulator;
        if (step.reduce != StepDecoder.REDUCE_NONE) {
            (accumulator.reduce, accumulator.dtype) = (step.reduce, step.reduceType);
            _reduce(step, tensors, digits, slots, accumulator);
        }
        Views.placeAll(step.epilogueReads, tensors, digits, NOTHING, 1);
        next = _load(step.epilogueReads, slots);
        if (step.reduce != StepDecoder.REDUCE_NONE) {
            next = _store(slots, next, Reduction.result(accumulator));
            if (step.reduce == StepDecoder.REDUCE_LAST) next = _store(slots, next, accumulator.found);
        }
        next = _storeAll(slots, next, step.constants);
        Expression.run(step.epilogue, slots, next, digits, elementary);
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

    /// @dev Runs over the reduction digits. The last digit with more than one value is counted up in blocks of terms for which no view has to
    /// be placed anew.
    function _reduce(
        Step memory step,
        Tensor[] memory tensors,
        uint256[] memory digits,
        uint256 slots,
        Reduction.State memory accumulator
    ) private view {
        unchecked {
            View[] memory views = step.termReads;
            _storeAll(slots, views.length, step.constants);
            uint256 along = step.radices.length - 1;
            while (along > step.outDigits && step.radices[along] == 1) --along;
            uint256 radix = step.radices[along];
            uint256 r = 0;
            while (true) {
                for (uint256 k = 0; k < radix;) {
                    digits[along] = k;
                    uint256 terms = Views.placeAll(views, tensors, digits, along, radix - k);
                    _addTerms(step, digits, along, slots, accumulator, r, terms);
                    k += terms;
                    r += terms;
                }
                if (r == step.terms) return;
                digits[along] = 0;
                for (uint256 d = along - 1; ++digits[d] == step.radices[d]; --d) digits[d] = 0;
            }
        }
    }

    /// @dev Folds in terms r .. r + terms - 1, for all of which every view is placed.
    function _addTerms(
        Step memory step,
        uint256[] memory digits,
        uint256 along,
        uint256 slots,
        Reduction.State memory accumulator,
        uint256 r,
        uint256 terms
    ) private view {
        unchecked {
            View[] memory views = step.termReads;
            Code memory code = step.term;
            if (code.length == 0 && step.reduce == StepDecoder.REDUCE_DOT && step.reduceType == DType.FLOAT32) {
                if (code.outA < views.length && code.outB < views.length) {
                    _addProducts(accumulator.sum, views[code.outA], views[code.outB], terms);
                    for (uint256 i = 0; i < views.length; ++i) Views.advance(views[i], terms);
                    return;
                }
            }
            uint256 next = views.length + step.constants.length;
            for (uint256 end = r + terms; r < end; ++r) {
                _load(views, slots);
                Expression.run(code, slots, next, digits, elementary);
                Reduction.add(accumulator, _slot(slots, code.outA), _slot(slots, code.outB), r);
                for (uint256 i = 0; i < views.length; ++i) Views.advance(views[i], 1);
                ++digits[along];
            }
        }
    }

    /// @dev The same for products of two float32 views: the loop that most proofs spend their gas in.
    function _addProducts(ExactSum.Acc memory sum, View memory a, View memory b, uint256 terms) private pure {
        unchecked {
            (uint256 aPointer, uint256 bPointer) = (a.pointer, b.pointer);
            (uint256 aStep, uint256 bStep) = (a.step, b.step);
            for (; terms != 0; --terms) {
                uint256 x;
                uint256 y;
                assembly ("memory-safe") {
                    x := shr(224, mload(aPointer))
                    y := shr(224, mload(bPointer))
                }
                ExactSum.addProduct(sum, x, y);
                aPointer += aStep;
                bPointer += bStep;
            }
        }
    }

    function _slots() private pure returns (uint256 slots) {
        uint256 size = 32 * StepDecoder.MAX_SLOTS;
        assembly ("memory-safe") {
            slots := mload(0x40)
            mstore(0x40, add(slots, size))
        }
    }

    function _load(View[] memory views, uint256 slots) private pure returns (uint256 next) {
        for (; next < views.length;) next = _store(slots, next, Views.word(views[next]));
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
