// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Tensor, Tensors} from "./Tensor.sol";
// Some are used in assembly only, which solhint does not see.
/* solhint-disable no-unused-import */
import {
    AXIS_BASE,
    AXIS_BYTES,
    AXIS_DIVISOR,
    AXIS_EXTENT,
    AXIS_INDEX_READ,
    AXIS_STRIDE,
    COEFFICIENT_BYTES,
    COEFFICIENT_FACTOR,
    VIEW_DTYPE,
    VIEW_FILL,
    VIEW_LEFT,
    VIEW_POINTER,
    VIEW_SHIFT,
    VIEW_STEP,
    VIEW_TOP,
    View,
    ViewDecoder
} from "./ViewDecoder.sol";
/* solhint-enable no-unused-import */

/// @title Reads inputs through views. Mirrors src/program/view.ts.
/// @dev Along one digit, the reduction's fastest, a coordinate is affine. A view is therefore *placed* once for all
/// terms during which the element moves by a constant step (or stays out of bounds). One addition leads from a term to
/// the next.
library Views {
    /// @dev The divisor and the index read of an axis, 40 bits together, and their value where there are neither:
    /// divisor 1 and `ViewDecoder.NO_INDEX_READ`.
    uint256 private constant DETOURS = 0xffffffffff;
    uint256 private constant PLAIN = 0x1ff;

    /// @dev Words of float types. `MAGNITUDE`: all bits but the sign; `INFINITY`: +Infinity, below every NaN; `NAN`:
    /// the one canonical NaN.
    uint256 private constant FLOAT32_MAGNITUDE = 0x7fffffff;
    uint256 private constant FLOAT32_INFINITY = 0x7f800000;
    uint256 private constant FLOAT32_NAN = 0x7fc00000;
    uint256 private constant FLOAT16_MAGNITUDE = 0x7fff;
    uint256 private constant FLOAT16_INFINITY = 0x7c00;
    uint256 private constant FLOAT16_NAN = 0x7e00;
    uint256 private constant FLOAT64_MAGNITUDE = 0x7fffffffffffffff;
    uint256 private constant FLOAT64_INFINITY = 0x7ff0000000000000;
    uint256 private constant FLOAT64_NAN = 0x7ff8000000000000;
    uint256 private constant BFLOAT16_MAGNITUDE = 0x7fff;
    uint256 private constant BFLOAT16_INFINITY = 0x7f80;
    uint256 private constant BFLOAT16_NAN = 0x7fc0;

    /// @notice Returns the current element of an integer view.
    function integer(View memory v) internal pure returns (int256 value) {
        assembly ("memory-safe") {
            // The word at the pointer, shifted down to the element, its sign extended.
            value := signextend(
                mload(add(v, VIEW_TOP)),
                shr(mload(add(v, VIEW_SHIFT)), mload(mload(add(v, VIEW_POINTER))))
            )
        }
    }

    /// @notice Writes the words of all views, `ahead` terms on, to the slots from memory address `slot` on.
    function loadAll(View[] memory views, uint256 ahead, uint256 slot) internal pure {
        assembly ("memory-safe") {
            // Returns a float's word with -0 read as +0 and every NaN as the canonical NaN.
            function canonicalFloat(raw, mask, infinity, nan) -> word {
                let magnitude := and(raw, mask)
                word := mul(raw, iszero(iszero(magnitude)))
                if gt(magnitude, infinity) {
                    word := nan
                }
            }
            let before := sub(slot, 0x20) // where offset 0 would be written
            // From the last view to the first. Element k of an array is at 32 (k + 1): the length is its first word.
            for {
                let offset := shl(5, mload(views))
            } offset {
                offset := sub(offset, 0x20)
            } {
                let v := mload(add(views, offset))
                // The word `ahead` steps from the pointer, shifted down to the element.
                let raw := mload(add(mload(add(v, VIEW_POINTER)), mul(mload(add(v, VIEW_STEP)), ahead)))
                raw := shr(mload(add(v, VIEW_SHIFT)), raw)
                // Canonical: one zero and one NaN; a bool is 0 or 1. The cases are DType codes, which Yul accepts only
                // as literals.
                switch mload(add(v, VIEW_DTYPE))
                // DType.FLOAT32: `canonicalFloat` written out, because nearly all views have this type.
                case 1 {
                    let magnitude := and(raw, FLOAT32_MAGNITUDE)
                    raw := mul(raw, iszero(iszero(magnitude)))
                    if gt(magnitude, FLOAT32_INFINITY) {
                        raw := FLOAT32_NAN
                    }
                }
                case 9 {
                    raw := iszero(iszero(raw)) // DType.BOOL
                }
                case 10 {
                    raw := canonicalFloat(raw, FLOAT16_MAGNITUDE, FLOAT16_INFINITY, FLOAT16_NAN) // DType.FLOAT16
                }
                case 11 {
                    raw := canonicalFloat(raw, FLOAT64_MAGNITUDE, FLOAT64_INFINITY, FLOAT64_NAN) // DType.FLOAT64
                }
                case 16 {
                    raw := canonicalFloat(raw, BFLOAT16_MAGNITUDE, BFLOAT16_INFINITY, BFLOAT16_NAN) // DType.BFLOAT16
                }
                // Integers: the sign of a signed type extended; a limb and an unsigned integer as they are.
                default {
                    raw := signextend(mload(add(v, VIEW_TOP)), raw)
                }
                mstore(add(before, offset), raw)
            }
        }
    }

    /// @notice Moves all views on by `terms` terms, at most what `placeAll` gave.
    function advanceAll(View[] memory views, uint256 terms) internal pure {
        assembly ("memory-safe") {
            // From the last view to the first. Element k of an array is at 32 (k + 1): the length is its first word.
            for {
                let offset := shl(5, mload(views))
            } offset {
                offset := sub(offset, 0x20)
            } {
                let v := mload(add(views, offset))
                // pointer += step * terms; left -= terms
                mstore(add(v, VIEW_POINTER), add(mload(add(v, VIEW_POINTER)), mul(mload(add(v, VIEW_STEP)), terms)))
                mstore(add(v, VIEW_LEFT), sub(mload(add(v, VIEW_LEFT)), terms))
            }
        }
    }

    /// @notice Places every view of a list without terms left; returns for how many terms all views hold.
    /// @param digits All digits' values.
    /// @param along The digit that the coming terms count up; a number past the digits for a single term.
    /// @param terms The number of terms to come, at least one.
    function placeAll(
        View[] memory views,
        Tensor[] memory tensors,
        uint256[] memory digits,
        uint256 along,
        uint256 terms
    ) internal pure returns (uint256) {
        unchecked {
            uint256 first;
            assembly ("memory-safe") {
                // Past the array's length.
                first := add(digits, 0x20)
            }
            uint256 common = terms;
            uint256 length = views.length;
            for (uint256 i = 0; i < length; ++i) {
                View memory v = views[i];
                uint256 left = v.left;
                if (left == 0) left = _place(v, views, tensors, first, along, terms);
                if (left < common) common = left;
            }
            return common;
        }
    }

    /// @dev The axes are read from calldata, where they lie as in the body (ViewDecoder).
    /// @param digits Memory address of the first digit.
    function _place(
        View memory v,
        View[] memory views,
        Tensor[] memory tensors,
        uint256 digits,
        uint256 along,
        uint256 terms
    ) private pure returns (uint256 left) {
        unchecked {
            uint256 element = 0;
            int256 slope = 0;
            left = terms;
            uint256 position = v.axes;
            for (uint256 axes = v.axisCount; axes != 0; --axes) {
                uint256 head;
                int256 c;
                int256 move;
                (head, c, move, position) = _coordinate(position, digits, along);
                bool plain;
                assembly ("memory-safe") {
                    // No divisor, no index read, and 0 <= c < extent: a negative c is a large number here.
                    plain := and(eq(and(shr(AXIS_INDEX_READ, head), DETOURS), PLAIN), lt(c, shr(AXIS_EXTENT, head)))
                }
                if (!plain) {
                    uint256 held;
                    bool inside;
                    (c, held, inside) = _detour(views, head, c, move, terms);
                    if (held < left) left = held;
                    if (!inside) {
                        // A single coordinate out of bounds decides, until the coordinate moves back inside.
                        left = held;
                        _placeOnFill(v, held);
                        return held;
                    }
                }
                int256 stride = int256((head >> AXIS_STRIDE) & 0xffffffff);
                element += uint256(c * stride);
                if (move != 0) {
                    slope += move * stride;
                    uint256 stay = _termsInside(uint256(c), head >> AXIS_EXTENT, move);
                    if (stay < left) left = stay;
                }
            }
            return _placeOnElement(v, tensors[v.input], element, slope, left);
        }
    }

    /// @dev Reads an axis: its first word, the coordinate before any index and division, by how much a term moves that,
    /// and where the axis ends.
    function _coordinate(
        uint256 position,
        uint256 digits,
        uint256 along
    ) private pure returns (uint256 head, int256 coordinate, int256 move, uint256 end) {
        assembly ("memory-safe") {
            head := calldataload(position)
            // The base, a signed number of 4 bytes.
            let c := signextend(3, shr(AXIS_BASE, head))
            let slope := 0
            let next := add(position, AXIS_BYTES)
            for {
                // The last byte of the axis: how many coefficients follow.
                let n := byte(17, head)
            } n {
                n := sub(n, 1)
            } {
                let w := calldataload(next)
                next := add(next, COEFFICIENT_BYTES)
                // The factor, a signed number of 4 bytes; then `w` is the digit's number.
                let factor := signextend(3, shr(COEFFICIENT_FACTOR, w))
                w := byte(0, w)
                slope := add(slope, mul(factor, eq(w, along)))
                c := add(c, mul(factor, mload(add(digits, shl(5, w)))))
            }
            coordinate := c
            move := slope
            end := next
        }
    }

    /// @dev Returns for how many terms a moving coordinate c < extent stays in bounds, including the current term.
    function _termsInside(uint256 c, uint256 extent, int256 move) private pure returns (uint256) {
        unchecked {
            return (move > 0 ? (extent - 1 - c) / uint256(move) : c / uint256(-move)) + 1;
        }
    }

    /// @dev Handles an axis outside its direct bounds: returns the coordinate after index read and divisor, the number
    /// of terms for which the result holds, and whether the coordinate is in bounds.
    function _detour(
        View[] memory views,
        uint256 head,
        int256 c,
        int256 move,
        uint256 terms
    ) private pure returns (int256, uint256 held, bool inside) {
        unchecked {
            held = terms;
            int256 extent = int256(head >> AXIS_EXTENT);
            uint256 read = (head >> AXIS_INDEX_READ) & 0xff;
            if (read != ViewDecoder.NO_INDEX_READ) {
                View memory index = views[read];
                int256 value = integer(index);
                c += value < 0 ? value + extent : value;
                held = index.step == 0 ? index.left : 1;
            }
            int256 divisor = int256((head >> AXIS_DIVISOR) & 0xffffffff);
            if (divisor != 1) {
                if (move != 0) held = 1;
                if (c % divisor != 0) return (c, held < terms ? held : terms, false);
                c /= divisor;
            }
            inside = uint256(c) < uint256(extent);
            if (!inside) {
                uint256 stay = _termsOutside(c, extent, move);
                if (stay < held) held = stay;
            }
            return (c, held < terms ? held : terms, inside);
        }
    }

    /// @dev Returns for how many terms a coordinate surely stays out of bounds, including the current term.
    function _termsOutside(int256 c, int256 extent, int256 move) private pure returns (uint256) {
        unchecked {
            if (c < 0) return move > 0 ? uint256((move - 1 - c) / move) : type(uint256).max;
            return move < 0 ? uint256((c - extent) / -move) + 1 : type(uint256).max;
        }
    }

    function _placeOnFill(View memory v, uint256 left) private pure {
        uint256 cell;
        assembly ("memory-safe") {
            // v.fill itself is read as the element.
            cell := add(v, VIEW_FILL)
        }
        v.pointer = cell;
        v.step = 0;
        v.left = left;
    }

    function _placeOnElement(
        View memory v,
        Tensor memory tensor,
        uint256 element,
        int256 slope,
        uint256 left
    ) private pure returns (uint256) {
        unchecked {
            uint256 offset = element << tensor.log2Bytes;
            Tensors.seek(tensor, v.input, offset);
            uint256 within = offset - tensor.segmentStart;
            int256 step = slope << tensor.log2Bytes;
            if (step != 0) {
                uint256 room = step > 0 ? (tensor.segmentBytes - 1 - within) / uint256(step) : within / uint256(-step);
                if (room < left) left = room + 1;
            }
            uint256 pointer = tensor.segmentData + within;
            v.pointer = pointer;
            v.step = uint256(step);
            v.left = left;
            Tensors.arrange(tensor, pointer, uint256(step), left);
            return left;
        }
    }
}
