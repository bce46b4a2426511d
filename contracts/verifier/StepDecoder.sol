// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {DType} from "./DType.sol";
import {Signature} from "./Signature.sol";
import {Words} from "./Words.sol";

/// @notice What a step reads.
/// @param kind 0: job input `index`; 1: constant with tensor root `root`; 2: step `index`.
/// @param dtype The element type (an ONNX code).
/// @param count Elements, 1 .. 2^32 - 1.
/// @param index Number of the job input or step; 0 for a constant.
/// @param root Tensor root of a constant; 0 otherwise.
struct TensorRef {
    uint8 kind;
    uint8 dtype;
    uint64 count;
    uint32 index;
    bytes32 root;
}

/// @notice How one input is read, and where in it the evaluation stands.
/// @param input Number of the input.
/// @param dtype Its element type.
/// @param axes Calldata position of the first axis.
/// @param axisCount How many axes there are.
/// @param shift 256 less the bits of an element: what makes the word at `pointer` the element.
/// @param fill The fill value as it would stand in a tensor: in the highest bits.
/// @param pointer Memory address of the current element, most significant byte first.
/// @param step Bytes from one term's element to the next one's (two's complement).
/// @param left Terms, from the current one on, for which `pointer` and `step` hold.
/// @param top Number of the byte that holds the sign, from the lowest; 31 for a type without one.
struct View {
    uint256 input;
    uint256 dtype;
    uint256 axes;
    uint256 axisCount;
    uint256 shift;
    uint256 fill;
    uint256 pointer;
    uint256 step;
    uint256 left;
    uint256 top;
}

/// @notice Straight-line code: calldata position of its first instruction, their number, the slots of its results.
struct Code {
    uint256 start;
    uint256 length;
    uint256 outA;
    uint256 outB;
}

/// @notice A decoded body. `radices`: the `outDigits` out digits first, then those of the reduction.
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
/// @dev A position is an address in calldata. Reading past the body gives some bytes or zeros: the last check, that the end of
/// the encoding is the end of the body, refuses those; every loop before it is bounded by a one-byte count.
library StepDecoder {
    error BodyLength(uint256 given, uint256 needed);
    error TooMany(bytes32 what, uint256 count, uint256 limit);
    error UnknownKind(uint256 kind);
    error UnknownType(uint256 dtype);
    error ElementCount(uint256 count);
    error NoDigits();
    error ZeroRadix(uint256 digit);
    error UnknownReduction(uint256 reduce, uint256 reduceType);
    error TermWithoutReduction();
    error NoLimbDigit(uint256 radix);
    error NotCanonical(int256 value, uint256 dtype);
    error UnknownInput(uint256 input);
    error AxisLimits(uint256 extent, uint256 divisor);
    error UnknownDigit(uint256 digit);
    error BadIndexRead(uint256 read);
    error ViewPastEnd(uint256 last, uint256 count);
    error UnknownOperation(uint256 operation, uint256 dtype);
    error SlotType(uint256 slot, uint256 dtype);
    error UnusedOperand(uint256 slot);

    uint256 internal constant KIND_INPUT = 0;
    uint256 internal constant KIND_CONSTANT = 1;
    uint256 internal constant KIND_STEP = 2;

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

    /// @dev Words of an exact sum: three limbs and the flags.
    uint256 internal constant LIMBS = 4;

    uint256 internal constant MAX_INPUTS = 16;
    uint256 internal constant MAX_DIGITS = 12;
    uint256 internal constant MAX_CONSTANTS = 64;
    uint256 internal constant MAX_READS = 16;
    uint256 internal constant MAX_AXES = 8;
    uint256 internal constant MAX_INSTRUCTIONS = 64;
    /// @dev The most slots that one list can have: reads, two accumulators, constants, instructions.
    uint256 internal constant MAX_SLOTS = MAX_READS + 2 + MAX_CONSTANTS + MAX_INSTRUCTIONS;

    uint256 internal constant NO_INDEX_READ = 255;
    /// @dev The float32 word.
    int256 private constant INFINITY = 0x7f800000;
    uint256 internal constant AXIS_BYTES = 18;
    uint256 internal constant COEFFICIENT_BYTES = 5;
    uint256 internal constant INSTRUCTION_BYTES = 5;

    /// @dev The types of the slots made so far: `count` words from memory address `start` on.
    struct Slots {
        uint256 count;
        uint256 start;
    }

    /// @notice The inputs of a step, in order. Checks that part of the body only.
    function refs(bytes calldata body) internal pure returns (TensorRef[] memory list) {
        uint256 start = _start(body);
        uint256 position;
        (list, position) = _refs(start);
        require(position - start <= body.length, BodyLength(body.length, position - start));
    }

    /// @notice Decodes and checks a body. The output's element type and count are not in it: the caller compares those.
    function decode(bytes calldata body) internal pure returns (Step memory step) {
        uint256 start = _start(body);
        uint256 position;
        (step.inputs, position) = _refs(start);
        position = _digits(step, position);
        position = _reduction(step, position);
        uint256[] memory constantTypes;
        (step.constants, constantTypes, position) = _constants(position);
        (step.termReads, position) = _views(step, position, step.radices.length);
        (step.epilogueReads, position) = _views(step, position, step.outDigits);

        Slots memory slots;
        uint256 size = 32 * MAX_SLOTS;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(add(slots, 0x20), free)
            mstore(0x40, add(free, size))
        }
        _pushViews(slots, step.termReads);
        _pushAll(slots, constantTypes);
        position = _code(step.term, slots, position, step.radices.length);
        (step.term.outA, step.term.outB) = (_byte(position), _byte(position + 1));
        position += 2;
        _checkTerm(step, slots);

        slots.count = 0;
        _pushViews(slots, step.epilogueReads);
        _pushAccumulators(slots, step.reduce, step.reduceType);
        _pushAll(slots, constantTypes);
        position = _code(step.epilogue, slots, position, step.outDigits);
        step.epilogue.outA = _byte(position);
        require(step.epilogue.outA < slots.count, SlotType(step.epilogue.outA, 0));
        position += 1;

        // SAFETY: one encoding a step; nothing was read from behind the body, and nothing is hidden there.
        require(position - start == body.length, BodyLength(body.length, position - start));
    }

    /// @notice Whether a reduction's terms are products of two results.
    function isDot(uint256 reduce) internal pure returns (bool) {
        return reduce == REDUCE_DOT || reduce == REDUCE_PARTIAL_DOT;
    }

    function _refs(uint256 position) private pure returns (TensorRef[] memory list, uint256) {
        unchecked {
            uint256 count;
            (count, position) = _count(position, "inputs", MAX_INPUTS);
            uint256 array = _newStructs(count, 0xa0);
            assembly ("memory-safe") {
                list := array
            }
            for (uint256 i = 0; i < count; ++i) {
                TensorRef memory ref = list[i];
                uint256 head = _word(position);
                uint256 kind = head >> 248;
                uint256 dtype = (head >> 240) & 0xff;
                uint256 elements = (head >> 176) & type(uint64).max;
                require(kind <= KIND_STEP, UnknownKind(kind));
                require(DType.isKnown(dtype), UnknownType(dtype));
                require(elements != 0 && elements <= type(uint32).max, ElementCount(elements));
                ref.kind = uint8(kind);
                ref.dtype = uint8(dtype);
                ref.count = uint64(elements);
                if (kind == KIND_CONSTANT) {
                    (ref.index, ref.root) = (0, bytes32(_word(position + 10)));
                    position += 42;
                } else {
                    (ref.index, ref.root) = (uint32(head >> 144), 0);
                    position += 14;
                }
            }
            return (list, position);
        }
    }

    function _digits(Step memory step, uint256 position) private pure returns (uint256) {
        uint256 out;
        (out, position) = _count(position, "out digits", MAX_DIGITS);
        require(out != 0, NoDigits());
        uint256 reductionAt = position + 4 * out;
        (uint256 reduction, uint256 end) = _count(reductionAt, "reduction digits", MAX_DIGITS);
        step.outDigits = out;
        step.radices = new uint256[](out + reduction);
        step.count = _radices(step.radices, 0, out, position);
        step.terms = _radices(step.radices, out, out + reduction, end);
        return end + 4 * reduction;
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
                uint256 radix = _word(position) >> 224;
                position += 4;
                require(radix != 0, ZeroRadix(d));
                _set(radices, d, radix);
                // Both have at most 32 bits.
                product *= radix;
                require(product <= type(uint32).max, ElementCount(product));
            }
        }
    }

    function _reduction(Step memory step, uint256 position) private pure returns (uint256) {
        (uint256 reduce, uint256 dtype) = (_byte(position), _byte(position + 1));
        bool none = reduce == REDUCE_NONE;
        require(reduce <= REDUCE_PARTIAL_TOTAL, UnknownReduction(reduce, dtype));
        require(none ? dtype == 0 : DType.isKnown(dtype), UnknownReduction(reduce, dtype));
        require(dtype != DType.BOOL || reduce == REDUCE_LAST, UnknownReduction(reduce, dtype));
        require(none == (step.radices.length == step.outDigits), TermWithoutReduction());
        bool total = reduce >= REDUCE_TOTAL;
        bool partial_ = reduce == REDUCE_PARTIAL_SUM || reduce == REDUCE_PARTIAL_DOT;
        require(total == (dtype == DType.LIMB), UnknownReduction(reduce, dtype));
        require(!partial_ || dtype == DType.FLOAT32, UnknownReduction(reduce, dtype));
        if (partial_ || reduce == REDUCE_PARTIAL_TOTAL) {
            uint256 radix = step.radices[step.outDigits - 1];
            require(radix == LIMBS, NoLimbDigit(radix));
        }
        if (total) {
            uint256 radix = step.radices[step.radices.length - 1];
            require(radix % LIMBS == 0, NoLimbDigit(radix));
        }
        (step.reduce, step.reduceType) = (reduce, dtype);
        return position + 2;
    }

    function _constants(
        uint256 position
    ) private pure returns (uint256[] memory words, uint256[] memory dtypes, uint256) {
        unchecked {
            uint256 count;
            (count, position) = _count(position, "constants", MAX_CONSTANTS);
            words = new uint256[](count);
            dtypes = new uint256[](count);
            for (uint256 i = 0; i < count; ++i) {
                uint256 dtype = _byte(position);
                require(DType.isKnown(dtype), UnknownType(dtype));
                _set(words, i, _canonicalWord(position + 1, dtype));
                _set(dtypes, i, dtype);
                position += 9;
            }
            return (words, dtypes, position);
        }
    }

    function _views(
        Step memory step,
        uint256 position,
        uint256 digits
    ) private pure returns (View[] memory views, uint256) {
        unchecked {
            uint256 count;
            (count, position) = _count(position, "reads", MAX_READS);
            uint256 array = _newStructs(count, 0x140);
            assembly ("memory-safe") {
                views := array
            }
            // Bit n: read n has an indirect axis.
            uint256 indirect = 0;
            for (uint256 n = 0; n < count; ++n) {
                View memory v = views[n];
                uint256 input = _byte(position);
                require(input < step.inputs.length, UnknownInput(input));
                TensorRef memory ref = step.inputs[input];
                v.input = input;
                v.dtype = ref.dtype;
                v.left = 0;
                uint256 elementBytes = 1 << DType.log2Bytes(v.dtype);
                v.shift = 256 - 8 * elementBytes;
                v.top = DType.isSigned(v.dtype) ? elementBytes - 1 : 31;
                v.fill = _canonicalWord(position + 1, v.dtype) << v.shift;
                (v.axisCount, v.axes) = _count(position + 9, "axes", MAX_AXES);
                uint256 last;
                (position, last, indirect) = _axes(v, views, n, indirect, digits);
                // INVARIANT: in bounds on every axis means inside the tensor.
                require(last < ref.count, ViewPastEnd(last, ref.count));
            }
            return (views, position);
        }
    }

    /// @dev Checks the axes of read `n`; gives where they end, the highest element that they reach, and which reads are indirect.
    function _axes(
        View memory v,
        View[] memory views,
        uint256 n,
        uint256 indirect,
        uint256 digits
    ) private pure returns (uint256 position, uint256 last, uint256) {
        unchecked {
            position = v.axes;
            for (uint256 axes = v.axisCount; axes != 0; --axes) {
                uint256 head = _word(position);
                uint256 extent = head >> 224;
                require(extent != 0 && (head >> 128) & type(uint32).max != 0, AxisLimits(extent, uint32(head >> 128)));
                // Eight products of two words of 32 bits.
                last += (extent - 1) * uint32(head >> 192);
                uint256 index = (head >> 120) & 0xff;
                if (index != NO_INDEX_READ) {
                    // SAFETY: an index read is evaluated before this one and is not itself indirect: no recursion.
                    require(index < n && (indirect >> index) & 1 == 0, BadIndexRead(index));
                    require(DType.isInteger(views[index].dtype), BadIndexRead(index));
                    indirect |= 1 << n;
                }
                position = _checkCoefficients(position + AXIS_BYTES, (head >> 112) & 0xff, digits);
            }
            return (position, last, indirect);
        }
    }

    /// @dev Digits strictly increase, so that there are at most 24 coefficients.
    function _checkCoefficients(uint256 position, uint256 count, uint256 digits) private pure returns (uint256) {
        unchecked {
            uint256 next = 0;
            for (; count != 0; --count) {
                uint256 digit = _byte(position);
                require(digit >= next && digit < digits, UnknownDigit(digit));
                next = digit + 1;
                position += COEFFICIENT_BYTES;
            }
            return position;
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
            (code.length, code.start) = _count(position, "instructions", MAX_INSTRUCTIONS);
            position = code.start;
            for (uint256 k = code.length; k != 0; --k) {
                uint256 head = _word(position);
                position += INSTRUCTION_BYTES;
                uint256 operation = head >> 248;
                uint256 dtype = (head >> 240) & 0xff;
                (uint256 a, uint256 b, uint256 c) = ((head >> 232) & 0xff, (head >> 224) & 0xff, (head >> 216) & 0xff);
                uint256 signature = Signature.lookup(operation);
                require(Signature.accepts(signature, dtype), UnknownOperation(operation, dtype));
                uint256 arity = Signature.arity(signature);
                if (arity == 0) {
                    require(dtype == DType.INT64, UnknownOperation(operation, dtype));
                    require(a < digits, UnknownDigit(a));
                } else {
                    _checkSlot(slots, a, arity == 3 ? DType.BOOL : dtype);
                }
                if (operation == Signature.CAST) {
                    require(DType.isKnown(b) && b != DType.LIMB, UnknownType(b));
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
        _checkSlot(slots, term.outA, last ? DType.BOOL : step.reduceType);
        if (last || isDot(reduce)) _checkSlot(slots, term.outB, step.reduceType);
        else require(term.outB == 0, UnusedOperand(term.outB));
    }

    function _pushAccumulators(Slots memory slots, uint256 reduce, uint256 dtype) private pure {
        if (reduce == REDUCE_NONE) return;
        bool position = reduce >= REDUCE_ARGMAX && reduce <= REDUCE_ARGMIN_LAST;
        if (position) dtype = DType.INT64;
        else if (reduce == REDUCE_TOTAL) dtype = DType.FLOAT32;
        else if (reduce > REDUCE_LAST) dtype = DType.LIMB;
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
            mcopy(add(mload(add(slots, 0x20)), shl(5, count)), add(dtypes, 0x20), shl(5, length))
            mstore(slots, add(count, length))
        }
    }

    /// @dev INVARIANT: the limits of reads, constants and instructions keep `count` below MAX_SLOTS.
    function _push(Slots memory slots, uint256 dtype) private pure {
        assembly ("memory-safe") {
            let count := mload(slots)
            mstore(add(mload(add(slots, 0x20)), shl(5, count)), dtype)
            mstore(slots, add(count, 1))
        }
    }

    function _checkSlot(Slots memory slots, uint256 slot, uint256 dtype) private pure {
        bool holds;
        assembly ("memory-safe") {
            holds := and(lt(slot, mload(slots)), eq(mload(add(mload(add(slots, 0x20)), shl(5, slot))), dtype))
        }
        // SAFETY: only slots that hold a word already, of the type that the operation expects.
        require(holds, SlotType(slot, dtype));
    }

    /// @dev A word written as i64, checked to be the one canonical word of its value in `dtype`.
    function _canonicalWord(uint256 position, uint256 dtype) private pure returns (uint256 word) {
        int256 value = int64(uint64(_word(position) >> 192));
        // Zero is a word of every type, and of float32 every positive number.
        if (value == 0 || (dtype == DType.FLOAT32 && value > 0 && value <= INFINITY)) return uint256(value);
        // The 64 bits are a float64's own.
        word = dtype == DType.FLOAT64 ? uint64(uint256(value)) : uint256(value);
        require(int256(word) >= 0 || DType.isSigned(dtype), NotCanonical(value, dtype));
        require(Words.canonical(word, dtype) == word, NotCanonical(value, dtype));
    }

    /// @dev Sets an element of an array that is longer.
    function _set(uint256[] memory array, uint256 k, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(add(add(array, 0x20), shl(5, k)), word)
        }
    }

    /// @dev An array of `count` structs of `size` bytes. SAFETY: they are not cleared; the caller sets every field that is read before it is written.
    function _newStructs(uint256 count, uint256 size) private pure returns (uint256 array) {
        assembly ("memory-safe") {
            array := mload(0x40)
            mstore(array, count)
            let element := add(array, 0x20)
            let item := add(element, shl(5, count))
            for {} count {
                count := sub(count, 1)
            } {
                mstore(element, item)
                element := add(element, 0x20)
                item := add(item, size)
            }
            mstore(0x40, item)
        }
    }

    function _count(uint256 position, bytes32 what, uint256 limit) private pure returns (uint256 count, uint256) {
        count = _byte(position);
        require(count <= limit, TooMany(what, count, limit));
        return (count, position + 1);
    }

    function _start(bytes calldata body) private pure returns (uint256 position) {
        assembly ("memory-safe") {
            position := body.offset
        }
    }

    function _word(uint256 position) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(position)
        }
    }

    function _byte(uint256 position) private pure returns (uint256) {
        return _word(position) >> 248;
    }
}
