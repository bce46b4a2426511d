// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BodyReader} from "./BodyReader.sol";
import {DType} from "./DType.sol";
import {ExactSum} from "./ExactSum.sol";
import {Float64Sum} from "./Float64Sum.sol";
import {Signature} from "./Signature.sol";
import {TensorRef, TensorRefs} from "./TensorRefs.sol";
import {View, ViewDecoder} from "./ViewDecoder.sol";

/// @notice Straight-line code: calldata position of the first instruction, number of instructions, slots with the
/// results.
struct Code {
    uint256 start;
    uint256 length;
    uint256 outA;
    uint256 outB;
}

/// @notice A decoded body. `radices`: first the `outDigits` out digits, then the reduction's digits.
struct Step {
    TensorRef[] inputs;
    uint256[] radices;
    uint256 outDigits;
    uint256 count;
    uint256 terms;
    uint256 reduce;
    uint256 reduceType;
    uint256[] constants;
    View[] termReads;
    View[] epilogueReads;
    Code term;
    Code epilogue;
}

/// @title Decodes a step body and checks that it is well-formed (docs/program.md, "Step body").
/// @dev A position is an address in calldata: see BodyReader.
library StepDecoder {
    error NoDigits();
    error ZeroRadix(uint256 digit);
    error UnknownReduction(uint256 reduce, uint256 reduceType);
    error TermWithoutReduction();
    error NoLimbDigit(uint256 radix);
    error UnknownOperation(uint256 operation, uint256 dtype);
    error SlotType(uint256 slot, uint256 dtype);
    error UnusedOperand(uint256 slot);

    uint256 internal constant REDUCE_NONE = 0;
    uint256 internal constant REDUCE_SUM = 1;
    uint256 internal constant REDUCE_DOT = 2;
    uint256 internal constant REDUCE_MAX = 3;
    uint256 internal constant REDUCE_MIN = 4;
    uint256 internal constant REDUCE_ARGMAX = 5;
    uint256 internal constant REDUCE_ARGMIN = 6;
    uint256 internal constant REDUCE_ARGMAX_LAST = 7;
    uint256 internal constant REDUCE_ARGMIN_LAST = 8;
    uint256 internal constant REDUCE_LAST = 9;
    uint256 internal constant REDUCE_PARTIAL_SUM = 10;
    uint256 internal constant REDUCE_PARTIAL_DOT = 11;
    uint256 internal constant REDUCE_TOTAL = 12;
    uint256 internal constant REDUCE_PARTIAL_TOTAL = 13;

    uint256 private constant MAX_DIGITS = 12;
    uint256 private constant MAX_CONSTANTS = 64;
    uint256 private constant MAX_INSTRUCTIONS = 64;
    /// @dev The maximum slot count in a list: reads, two accumulators, constants, instructions.
    uint256 internal constant MAX_SLOTS = ViewDecoder.MAX_READS + 2 + MAX_CONSTANTS + MAX_INSTRUCTIONS;

    /// @dev An instruction in a body: operation 1 byte, element type 1, operands a, b and c 1 each. Each shift brings a
    /// field to the lowest bits of the word that begins at the instruction.
    uint256 internal constant OPERATION = 248;
    uint256 internal constant ELEMENT_TYPE = 240;
    uint256 internal constant OPERAND_A = 232;
    uint256 internal constant OPERAND_B = 224;
    uint256 internal constant OPERAND_C = 216;
    uint256 internal constant INSTRUCTION_BYTES = 5;

    /// @dev A digit's radix in a body, bytes; the shift moves the radix to the lowest bits of the word beginning there.
    uint256 private constant RADIX_BYTES = 4;
    uint256 private constant RADIX = 224;
    /// @dev A constant in a body: element type 1 byte, word 8.
    uint256 private constant CONSTANT_WORD = 1;
    uint256 private constant CONSTANT_BYTES = 9;

    /// @dev Where `Slots.start` lies in memory, bytes from the struct's address; `Slots.count` is its first word.
    uint256 private constant SLOTS_START = 0x20;

    /// @dev The types of all slots made until now: `count` words from memory address `start` on.
    struct Slots {
        uint256 count;
        uint256 start;
    }

    /// @notice Decodes and checks a body. The output's element type and count are not in it: the caller compares those.
    function decode(bytes calldata body) internal pure returns (Step memory step) {
        uint256 start = BodyReader.start(body);
        uint256 position;
        (step.inputs, position) = TensorRefs.read(start);
        position = _digits(step, position);
        position = _reduction(step, position);
        uint256[] memory constantTypes;
        (step.constants, constantTypes, position) = _constants(position);
        (step.termReads, position) = ViewDecoder.read(step.inputs, position, step.radices.length);
        (step.epilogueReads, position) = ViewDecoder.read(step.inputs, position, step.outDigits);

        Slots memory slots;
        uint256 size = 32 * MAX_SLOTS;
        assembly ("memory-safe") {
            // The slots' types take the next `size` bytes of free memory.
            let free := mload(0x40)
            mstore(add(slots, SLOTS_START), free)
            mstore(0x40, add(free, size))
        }
        _pushViews(slots, step.termReads);
        _pushAll(slots, constantTypes);
        position = _code(step.term, slots, position, step.radices.length);
        (step.term.outA, step.term.outB) = (BodyReader.byteAt(position), BodyReader.byteAt(position + 1));
        position += 2;
        _checkTerm(step, slots);

        slots.count = 0;
        _pushViews(slots, step.epilogueReads);
        _pushAccumulators(slots, step.reduce, step.reduceType);
        _pushAll(slots, constantTypes);
        position = _code(step.epilogue, slots, position, step.outDigits);
        step.epilogue.outA = BodyReader.byteAt(position);
        require(step.epilogue.outA < slots.count, SlotType(step.epilogue.outA, 0));
        position += 1;

        // SAFETY: one encoding per step; nothing was read from behind the body, and nothing is hidden there.
        require(position - start == body.length, BodyReader.BodyLength(body.length, position - start));
    }

    /// @notice Returns whether a float reduction gives its exact sum in words.
    function isPartial(uint256 reduce) internal pure returns (bool) {
        return reduce == REDUCE_PARTIAL_SUM || reduce == REDUCE_PARTIAL_DOT;
    }

    /// @notice Returns the number of words in an exact sum of a float type.
    function limbsOf(uint256 dtype) internal pure returns (uint256) {
        return dtype == DType.FLOAT64 ? Float64Sum.LIMBS : ExactSum.LIMBS;
    }

    /// @notice Whether a reduction's terms are products of two results.
    function isDot(uint256 reduce) internal pure returns (bool) {
        return reduce == REDUCE_DOT || reduce == REDUCE_PARTIAL_DOT;
    }

    function _digits(Step memory step, uint256 position) private pure returns (uint256) {
        uint256 out;
        (out, position) = BodyReader.count(position, "out digits", MAX_DIGITS);
        require(out != 0, NoDigits());
        uint256 reductionAt = position + RADIX_BYTES * out;
        (uint256 reduction, uint256 end) = BodyReader.count(reductionAt, "reduction digits", MAX_DIGITS);
        step.outDigits = out;
        step.radices = new uint256[](out + reduction);
        step.count = _radices(step.radices, 0, out, position);
        step.terms = _radices(step.radices, out, out + reduction, end);
        return end + RADIX_BYTES * reduction;
    }

    /// @dev Reads radices `from` .. `to - 1`; gives their product.
    function _radices(
        uint256[] memory radices,
        uint256 from,
        uint256 to,
        uint256 position
    ) private pure returns (uint256 product) {
        unchecked {
            product = 1;
            for (uint256 d = from; d < to; ++d) {
                uint256 radix = BodyReader.word(position) >> RADIX;
                position += 4;
                require(radix != 0, ZeroRadix(d));
                _set(radices, d, radix);
                // Both have at most 32 bits.
                product *= radix;
                require(product <= type(uint32).max, BodyReader.ElementCount(product));
            }
        }
    }

    function _reduction(Step memory step, uint256 position) private pure returns (uint256) {
        (uint256 reduce, uint256 dtype) = (BodyReader.byteAt(position), BodyReader.byteAt(position + 1));
        bool none = reduce == REDUCE_NONE;
        require(reduce <= REDUCE_PARTIAL_TOTAL, UnknownReduction(reduce, dtype));
        require(none ? dtype == 0 : DType.isKnown(dtype), UnknownReduction(reduce, dtype));
        require(dtype != DType.BOOL || reduce == REDUCE_LAST, UnknownReduction(reduce, dtype));
        require(none == (step.radices.length == step.outDigits), TermWithoutReduction());
        require((reduce == REDUCE_PARTIAL_TOTAL) == (dtype == DType.LIMB), UnknownReduction(reduce, dtype));
        (step.reduce, step.reduceType) = (reduce, dtype);
        if (reduce > REDUCE_LAST) _checkLimbs(step);
        return position + 2;
    }

    /// @dev Checks the type of a sum passed on in words, and the digits that number these words.
    function _checkLimbs(Step memory step) private pure {
        (uint256 reduce, uint256 dtype) = (step.reduce, step.reduceType);
        uint256 radix = step.radices[step.outDigits - 1];
        uint256 limbs;
        if (reduce == REDUCE_PARTIAL_TOTAL) {
            limbs = radix;
            require(limbs == ExactSum.LIMBS || limbs == Float64Sum.LIMBS, NoLimbDigit(limbs));
        } else {
            require(DType.isFloat(dtype), UnknownReduction(reduce, dtype));
            limbs = limbsOf(dtype);
            require(reduce == REDUCE_TOTAL || radix == limbs, NoLimbDigit(radix));
        }
        if (reduce >= REDUCE_TOTAL) {
            radix = step.radices[step.radices.length - 1];
            require(radix % limbs == 0, NoLimbDigit(radix));
        }
    }

    function _constants(
        uint256 position
    ) private pure returns (uint256[] memory words, uint256[] memory dtypes, uint256) {
        unchecked {
            uint256 count;
            (count, position) = BodyReader.count(position, "constants", MAX_CONSTANTS);
            words = new uint256[](count);
            dtypes = new uint256[](count);
            for (uint256 i = 0; i < count; ++i) {
                uint256 dtype = BodyReader.byteAt(position);
                require(DType.isKnown(dtype), BodyReader.UnknownType(dtype));
                _set(words, i, BodyReader.canonicalWord(position + CONSTANT_WORD, dtype));
                _set(dtypes, i, dtype);
                position += CONSTANT_BYTES;
            }
            return (words, dtypes, position);
        }
    }

    /// @dev Checks instructions and pushes each one's type.
    function _code(
        Code memory code,
        Slots memory slots,
        uint256 position,
        uint256 digits
    ) private pure returns (uint256) {
        unchecked {
            (code.length, code.start) = BodyReader.count(position, "instructions", MAX_INSTRUCTIONS);
            position = code.start;
            for (uint256 k = code.length; k != 0; --k) {
                uint256 head = BodyReader.word(position);
                position += INSTRUCTION_BYTES;
                uint256 operation = head >> OPERATION;
                uint256 dtype = (head >> ELEMENT_TYPE) & 0xff;
                (uint256 a, uint256 b) = ((head >> OPERAND_A) & 0xff, (head >> OPERAND_B) & 0xff);
                uint256 c = (head >> OPERAND_C) & 0xff;
                uint256 signature = Signature.lookup(operation);
                require(Signature.accepts(signature, dtype), UnknownOperation(operation, dtype));
                uint256 arity = Signature.arity(signature);
                if (arity == 0) {
                    require(dtype == DType.INT64, UnknownOperation(operation, dtype));
                    require(a < digits, BodyReader.UnknownDigit(a));
                } else {
                    _checkSlot(slots, a, arity == 3 ? DType.BOOL : dtype);
                }
                if (operation == Signature.CAST) {
                    require(DType.isKnown(b) && b != DType.LIMB, BodyReader.UnknownType(b));
                    dtype = b;
                } else if (arity < 2) {
                    require(b == 0, UnusedOperand(b));
                } else {
                    _checkSlot(slots, b, dtype);
                }
                if (arity == 3) _checkSlot(slots, c, dtype);
                else require(c == 0, UnusedOperand(c));
                _push(slots, Signature.givesBool(signature) ? DType.BOOL : dtype);
            }
            return position;
        }
    }

    function _checkTerm(Step memory step, Slots memory slots) private pure {
        Code memory term = step.term;
        uint256 reduce = step.reduce;
        if (reduce == REDUCE_NONE) {
            bool empty = step.termReads.length + term.length + term.outA + term.outB == 0;
            require(empty, TermWithoutReduction());
            return;
        }
        bool last = reduce == REDUCE_LAST;
        uint256 dtype = reduce >= REDUCE_TOTAL ? DType.LIMB : step.reduceType;
        _checkSlot(slots, term.outA, last ? DType.BOOL : dtype);
        if (last || isDot(reduce)) _checkSlot(slots, term.outB, step.reduceType);
        else require(term.outB == 0, UnusedOperand(term.outB));
    }

    function _pushAccumulators(Slots memory slots, uint256 reduce, uint256 dtype) private pure {
        if (reduce == REDUCE_NONE) return;
        bool position = reduce >= REDUCE_ARGMAX && reduce <= REDUCE_ARGMIN_LAST;
        if (position) dtype = DType.INT64;
        else if (isPartial(reduce)) dtype = DType.LIMB;
        _push(slots, dtype);
        if (reduce == REDUCE_LAST) _push(slots, DType.BOOL);
    }

    function _pushViews(Slots memory slots, View[] memory views) private pure {
        unchecked {
            for (uint256 i = 0; i < views.length; ++i) _push(slots, views[i].dtype);
        }
    }

    function _pushAll(Slots memory slots, uint256[] memory dtypes) private pure {
        assembly ("memory-safe") {
            let count := mload(slots)
            let length := mload(dtypes)
            // Copies the array's words, which follow its length, behind the existing `count` words.
            mcopy(add(mload(add(slots, SLOTS_START)), shl(5, count)), add(dtypes, 0x20), shl(5, length))
            mstore(slots, add(count, length))
        }
    }

    /// @dev INVARIANT: the limits of reads, constants and instructions keep `count` below MAX_SLOTS.
    function _push(Slots memory slots, uint256 dtype) private pure {
        assembly ("memory-safe") {
            let count := mload(slots)
            mstore(add(mload(add(slots, SLOTS_START)), shl(5, count)), dtype)
            mstore(slots, add(count, 1))
        }
    }

    function _checkSlot(Slots memory slots, uint256 slot, uint256 dtype) private pure {
        bool holds;
        assembly ("memory-safe") {
            // slot < count, and the word at the slot is the type.
            holds := and(lt(slot, mload(slots)), eq(mload(add(mload(add(slots, SLOTS_START)), shl(5, slot))), dtype))
        }
        // SAFETY: accepts only slots already holding a word with the operation's expected type.
        require(holds, SlotType(slot, dtype));
    }

    /// @dev Sets an element of a sufficiently long array.
    function _set(uint256[] memory array, uint256 k, uint256 word) private pure {
        assembly ("memory-safe") {
            // Words follow the array's length.
            mstore(add(add(array, 0x20), shl(5, k)), word)
        }
    }
}
