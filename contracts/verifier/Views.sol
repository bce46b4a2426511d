// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {StepDecoder, View} from "./StepDecoder.sol";
import {Tensor, Tensors} from "./Tensor.sol";

/// @title Reads inputs through views. Mirrors src/program/view.ts.
/// @dev Along one digit, the fastest of the reduction, a coordinate is affine; so a view is *placed* once for as many terms as its
/// element moves by a constant step (or stays out of bounds), and one addition leads from a term to the next.
library Views {
    /// @notice One axis, as decoded from calldata.
    struct Axis {
        int256 extent;
        int256 stride;
        int256 divisor;
        uint256 index;
        int256 coordinate;
        int256 slope;
        uint256 next;
    }

    /// @notice The current element of a view of integers.
    function integer(View memory v) internal pure returns (int256 value) {
        assembly ("memory-safe") {
            // top, shift, pointer
            value := signextend(mload(add(v, 0x120)), shr(mload(add(v, 0x80)), mload(mload(add(v, 0xc0)))))
        }
    }

    /// @notice Writes the words of all views, `ahead` terms on, to the slots from memory address `slot` on.
    function loadAll(View[] memory views, uint256 ahead, uint256 slot) internal pure {
        assembly ("memory-safe") {
            function canonicalFloat(raw, mask, infinity, nan) -> word {
                let magnitude := and(raw, mask)
                word := mul(raw, iszero(iszero(magnitude)))
                if gt(magnitude, infinity) {
                    word := nan
                }
            }
            let cursor := add(views, 0x20)
            for {
                let end := add(cursor, shl(5, mload(views)))
            } lt(cursor, end) {
                cursor := add(cursor, 0x20)
            } {
                let v := mload(cursor)
                // pointer + step * ahead; shift
                let raw := mload(add(mload(add(v, 0xc0)), mul(mload(add(v, 0xe0)), ahead)))
                raw := shr(mload(add(v, 0x80)), raw)
                // Canonical: one zero and one NaN; a bool is 0 or 1.
                switch mload(add(v, 0x20))
                case 1 {
                    let magnitude := and(raw, 0x7fffffff)
                    raw := mul(raw, iszero(iszero(magnitude)))
                    if gt(magnitude, 0x7f800000) {
                        raw := 0x7fc00000
                    }
                }
                case 9 {
                    raw := iszero(iszero(raw))
                }
                case 10 {
                    raw := canonicalFloat(raw, 0x7fff, 0x7c00, 0x7e00)
                }
                case 11 {
                    raw := canonicalFloat(raw, 0x7fffffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000)
                }
                case 16 {
                    raw := canonicalFloat(raw, 0x7fff, 0x7f80, 0x7fc0)
                }
                default {
                    raw := signextend(mload(add(v, 0x120)), raw)
                }
                mstore(slot, raw)
                slot := add(slot, 0x20)
            }
        }
    }

    /// @notice Moves all views on by `terms` terms, at most what `placeAll` gave.
    function advanceAll(View[] memory views, uint256 terms) internal pure {
        unchecked {
            uint256 length = views.length;
            for (uint256 i = 0; i < length; ++i) {
                View memory v = views[i];
                v.pointer += v.step * terms;
                v.left -= terms;
            }
        }
    }

    /// @notice Places every view of a list that has no terms left; gives how many terms all of them hold for.
    /// @param axis Working memory.
    /// @param digits All digits' values.
    /// @param along The digit that the coming terms count up; a number past the digits if there is but one term.
    /// @param terms How many terms are to come, at least one.
    function placeAll(
        View[] memory views,
        Axis memory axis,
        Tensor[] memory tensors,
        uint256[] memory digits,
        uint256 along,
        uint256 terms
    ) internal pure returns (uint256) {
        unchecked {
            uint256 common = terms;
            uint256 length = views.length;
            for (uint256 i = 0; i < length; ++i) {
                View memory v = views[i];
                if (v.left == 0) _place(v, axis, views, tensors[v.input], digits, along, terms);
                if (v.left < common) common = v.left;
            }
            return common;
        }
    }

    function _place(
        View memory v,
        Axis memory axis,
        View[] memory views,
        Tensor memory tensor,
        uint256[] memory digits,
        uint256 along,
        uint256 terms
    ) private pure {
        unchecked {
            int256 offset = 0;
            int256 slope = 0;
            uint256 left = terms;
            axis.next = v.axes;
            for (uint256 a = 0; a < v.axisCount; ++a) {
                _axis(axis, digits, along);
                uint256 held = terms;
                if (axis.index != StepDecoder.NO_INDEX_READ) {
                    View memory index = views[axis.index];
                    int256 value = integer(index);
                    axis.coordinate += value < 0 ? value + axis.extent : value;
                    held = index.step == 0 ? index.left : 1;
                }
                bool inside = true;
                if (axis.divisor != 1) {
                    if (axis.slope != 0) held = 1;
                    inside = axis.coordinate % axis.divisor == 0;
                    axis.coordinate /= axis.divisor;
                }
                int256 c = axis.coordinate;
                if (inside && c >= 0 && c < axis.extent) {
                    uint256 stay = _termsInside(c, axis.extent, axis.slope);
                    if (stay < held) held = stay;
                    if (held < left) left = held;
                    offset += c * axis.stride;
                    slope += axis.slope * axis.stride;
                } else {
                    // One coordinate out of bounds decides, for as long as it stays there.
                    if (inside) {
                        uint256 stay = _termsOutside(c, axis.extent, axis.slope);
                        if (stay < held) held = stay;
                    }
                    _placeOnFill(v, held < terms ? held : terms);
                    return;
                }
            }
            _placeOnElement(v, tensor, uint256(offset), slope, left);
        }
    }

    /// @dev Reads an axis from calldata and computes its coordinate (before any index and division) and slope.
    function _axis(Axis memory axis, uint256[] memory digits, uint256 along) private pure {
        assembly ("memory-safe") {
            let position := mload(add(axis, 0xc0))
            let head := calldataload(position)
            mstore(axis, shr(224, head))
            mstore(add(axis, 0x20), and(shr(192, head), 0xffffffff))
            mstore(add(axis, 0x40), and(shr(128, head), 0xffffffff))
            mstore(add(axis, 0x60), byte(16, head))
            let coordinate := signextend(3, shr(160, head))
            let slope := 0
            position := add(position, 18)
            for {
                let n := byte(17, head)
            } n {
                n := sub(n, 1)
            } {
                let w := calldataload(position)
                let digit := byte(0, w)
                let coefficient := signextend(3, shr(216, w))
                if eq(digit, along) {
                    slope := coefficient
                }
                coordinate := add(coordinate, mul(coefficient, mload(add(add(digits, 0x20), shl(5, digit)))))
                position := add(position, 5)
            }
            mstore(add(axis, 0x80), coordinate)
            mstore(add(axis, 0xa0), slope)
            mstore(add(axis, 0xc0), position)
        }
    }

    /// @dev How many terms a coordinate 0 <= c < extent stays in bounds, this one included.
    function _termsInside(int256 c, int256 extent, int256 slope) private pure returns (uint256) {
        unchecked {
            if (slope == 0) return type(uint256).max;
            return uint256(slope > 0 ? (extent - 1 - c) / slope : c / -slope) + 1;
        }
    }

    /// @dev How many terms a coordinate out of bounds surely stays there, this one included.
    function _termsOutside(int256 c, int256 extent, int256 slope) private pure returns (uint256) {
        unchecked {
            if (c < 0) return slope > 0 ? uint256((slope - 1 - c) / slope) : type(uint256).max;
            return slope < 0 ? uint256((c - extent) / -slope) + 1 : type(uint256).max;
        }
    }

    function _placeOnFill(View memory v, uint256 left) private pure {
        uint256 cell;
        assembly ("memory-safe") {
            // v.fill itself is read as if it were the element.
            cell := add(v, 0xa0)
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
    ) private pure {
        unchecked {
            uint256 offset = element << tensor.log2Bytes;
            Tensors.seek(tensor, v.input, offset);
            uint256 within = offset - tensor.segmentStart;
            int256 step = slope << tensor.log2Bytes;
            if (step != 0) {
                uint256 room = step > 0 ? (tensor.segmentBytes - 1 - within) / uint256(step) : within / uint256(-step);
                if (room < left) left = room + 1;
            }
            v.pointer = tensor.segmentData + within;
            v.step = uint256(step);
            v.left = left;
        }
    }
}
