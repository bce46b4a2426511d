// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Expression} from "./Expression.sol";
import {IElementary} from "./IElementary.sol";
import {ChunkOpening, IStepVerifier} from "../interfaces/IStepVerifier.sol";
import {Reduction} from "./Reduction.sol";
import {Code, Step, StepDecoder} from "./StepDecoder.sol";
import {Tensor, Tensors} from "./Tensor.sol";
import {TensorRef, TensorRefs} from "./TensorRefs.sol";
import {View} from "./ViewDecoder.sol";
import {SEMANTICS} from "../types/Semantics.sol";
import {Views} from "./Views.sol";

/// @title Recomputes one element of one step. Mirrors src/program/evaluate.ts; docs/program.md defines both.
/// @dev Stateless. INVARIANT: past the decoder and the openings, only the value itself depends on data. An
/// out-of-bounds view read gives the fill value, and every operation is total. No tensor content can therefore make a
/// proof fail.
contract StepVerifier is IStepVerifier {
    /// @dev The data of one evaluation. `slots` is the memory address of slot 0; `a` and `b` are the factors of an
    /// exact sum's terms.
    struct Evaluation {
        Step step;
        Tensor[] tensors;
        uint256[] digits;
        uint256 slots;
        Reduction.State accumulator;
        View a;
        View b;
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
        Step memory step = StepDecoder.decode(body);
        require(element < step.count, ElementPastEnd(element, step.count));
        Tensor[] memory tensors = _open(step.inputs, inputRoots, openings);
        uint256[] memory digits = _outDigits(step, element);
        uint256 last = step.outDigits - 1;
        View memory none;
        Evaluation memory e = Evaluation({
            step: step,
            tensors: tensors,
            digits: digits,
            slots: _newSlots(),
            accumulator: Reduction.start(step.reduce, step.reduceType, digits[last], step.radices[last]),
            a: none,
            b: none
        });
        if (step.reduce != StepDecoder.REDUCE_NONE) _reduce(e);
        return _epilogue(e);
    }

    /// @inheritdoc IStepVerifier
    function semantics() external pure returns (uint256) {
        return SEMANTICS;
    }

    function _epilogue(Evaluation memory e) private view returns (uint256) {
        Step memory step = e.step;
        View[] memory views = step.epilogueReads;
        uint256 slots = e.slots;
        uint256 next = views.length;
        Views.placeAll(views, e.tensors, e.digits, NOTHING, 1);
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
            bytes32 root = ref.kind == TensorRefs.KIND_CONSTANT ? ref.root : roots[i];
            tensors[i] = Tensors.open(i, root, ref.dtype, ref.count, openings[i]);
        }
    }

    /// @dev Returns all digits: the output's digits split from the flat index, the reduction's digits 0.
    function _outDigits(Step memory step, uint256 element) private pure returns (uint256[] memory digits) {
        uint256[] memory radices = step.radices;
        digits = new uint256[](radices.length);
        uint256 outDigits = step.outDigits;
        // INVARIANT: the radices include one per out digit, and none equals 0 (StepDecoder).
        assembly ("memory-safe") {
            // From the last out digit, the fastest, to the first one. Element k of an array is at 32 (k + 1): the
            // length is its first word.
            for {
                let d := shl(5, outDigits)
            } d {
                d := sub(d, 0x20)
            } {
                let radix := mload(add(radices, d))
                mstore(add(digits, d), mod(element, radix))
                element := div(element, radix)
            }
        }
    }

    /// @dev Runs over the reduction digits. The last digit with more than one value counts up in blocks of terms with
    /// constant placement for every view.
    function _reduce(Evaluation memory e) private view {
        unchecked {
            Step memory step = e.step;
            uint256[] memory digits = e.digits;
            uint256[] memory radices = step.radices;
            _storeAll(e.slots, step.termReads.length, step.constants);
            bool exact = Reduction.isExactSum(e.accumulator);
            if (exact) (e.a, e.b) = (_factor(e, step.term.outA), _secondFactor(e));
            bool bare = exact && step.term.length == 0;
            uint256 along = radices.length - 1;
            while (along > step.outDigits && radices[along] == 1) --along;
            uint256 radix = radices[along];
            for (uint256 r = 0; true;) {
                if (bare) _runBare(e, along, radix);
                else _run(e, along, radix, r);
                r += radix;
                if (r == step.terms) return;
                digits[along] = 0;
                for (uint256 d = along - 1; ++digits[d] == radices[d]; --d) digits[d] = 0;
            }
        }
    }

    /// @dev Computes the sum or dot product of unmodified input floats, along one digit.
    function _runBare(Evaluation memory e, uint256 along, uint256 radix) private pure {
        unchecked {
            View[] memory views = e.step.termReads;
            for (uint256 k = 0; k < radix;) {
                uint256 terms = _placeAt(e, views, along, k, radix);
                Reduction.addProducts(e.accumulator, e.a, e.b, terms);
                Views.advanceAll(views, terms);
                k += terms;
            }
        }
    }

    /// @dev Any other reduction, whose terms r .. r + radix - 1 these are.
    function _run(Evaluation memory e, uint256 along, uint256 radix, uint256 r) private view {
        unchecked {
            View[] memory views = e.step.termReads;
            for (uint256 k = 0; k < radix;) {
                uint256 terms = _placeAt(e, views, along, k, radix);
                _addTerms(e, along, r + k, terms);
                Views.advanceAll(views, terms);
                k += terms;
            }
        }
    }

    /// @dev Sets digit `along` to k and places the views; gives how many terms they hold for.
    function _placeAt(
        Evaluation memory e,
        View[] memory views,
        uint256 along,
        uint256 k,
        uint256 radix
    ) private pure returns (uint256) {
        unchecked {
            e.digits[along] = k;
            return Views.placeAll(views, e.tensors, e.digits, along, radix - k);
        }
    }

    /// @dev Folds in terms r .. r + terms - 1; every view must be placed for all these terms.
    function _addTerms(Evaluation memory e, uint256 along, uint256 r, uint256 terms) private view {
        unchecked {
            Code memory code = e.step.term;
            View[] memory views = e.step.termReads;
            uint256 slots = e.slots;
            uint256[] memory digits = e.digits;
            uint256 next = views.length + e.step.constants.length;
            bool exact = Reduction.isExactSum(e.accumulator);
            for (uint256 ahead = 0; ahead < terms; ++ahead) {
                Views.loadAll(views, ahead, slots);
                if (code.length != 0) {
                    Expression.run(code, slots, next, digits, elementary);
                    ++digits[along];
                }
                if (exact) Reduction.addProducts(e.accumulator, e.a, e.b, 1);
                else Reduction.add(e.accumulator, _slot(slots, code.outA), _slot(slots, code.outB), r + ahead);
            }
        }
    }

    /// @dev Returns where the float in a slot is read: the slot's view if terms use unmodified inputs, else a view
    /// fixed on the slot.
    function _factor(Evaluation memory e, uint256 slot) private pure returns (View memory) {
        View[] memory views = e.step.termReads;
        if (slot < views.length && e.step.term.length == 0) return views[slot];
        unchecked {
            return _fixed(Reduction.floatAt(e.accumulator, e.slots + 32 * slot));
        }
    }

    function _secondFactor(Evaluation memory e) private pure returns (View memory) {
        if (StepDecoder.isDot(e.step.reduce)) return _factor(e, e.step.term.outB);
        return _fixed(Reduction.oneAt(e.accumulator));
    }

    function _fixed(uint256 pointer) private pure returns (View memory v) {
        v.pointer = pointer;
    }

    function _newSlots() private pure returns (uint256 slots) {
        uint256 size = 32 * StepDecoder.MAX_SLOTS;
        assembly ("memory-safe") {
            // The next `size` bytes of free memory, not cleared: a slot is written before it is read.
            slots := mload(0x40)
            mstore(0x40, add(slots, size))
        }
    }

    function _storeAll(uint256 slots, uint256 next, uint256[] memory words) private pure returns (uint256) {
        unchecked {
            assembly ("memory-safe") {
                // Copies the array's words, which follow its length, to slot `next` and on.
                mcopy(add(slots, shl(5, next)), add(words, 0x20), shl(5, mload(words)))
            }
            return next + words.length;
        }
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
