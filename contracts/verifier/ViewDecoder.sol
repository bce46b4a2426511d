// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {BodyReader} from "./BodyReader.sol";
import {DType} from "./DType.sol";
import {TensorRef} from "./TensorRefs.sol";

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

/// @title Decodes and checks views (docs/program.md, "View").
library ViewDecoder {
    error UnknownInput(uint256 input);
    error AxisLimits(uint256 extent, uint256 divisor);
    error BadIndexRead(uint256 read);
    error ViewPastEnd(uint256 last, uint256 count);

    uint256 internal constant MAX_READS = 16;
    uint256 internal constant NO_INDEX_READ = 255;

    uint256 private constant MAX_AXES = 8;
    uint256 private constant AXIS_BYTES = 18;
    uint256 private constant COEFFICIENT_BYTES = 5;

    /// @notice A list of reads of `inputs`, which may use the first `digits` digits, and where it ends.
    function read(
        TensorRef[] memory inputs,
        uint256 position,
        uint256 digits
    ) internal pure returns (View[] memory views, uint256) {
        unchecked {
            uint256 count;
            (count, position) = BodyReader.count(position, "reads", MAX_READS);
            uint256 array = BodyReader.newStructs(count, 0x140);
            assembly ("memory-safe") {
                views := array
            }
            // Bit n: read n has an indirect axis.
            uint256 indirect = 0;
            for (uint256 n = 0; n < count; ++n) {
                View memory v = views[n];
                uint256 input = BodyReader.byteAt(position);
                require(input < inputs.length, UnknownInput(input));
                TensorRef memory ref = inputs[input];
                v.input = input;
                v.dtype = ref.dtype;
                v.left = 0;
                uint256 elementBytes = 1 << DType.log2Bytes(v.dtype);
                v.shift = 256 - 8 * elementBytes;
                v.top = DType.isSigned(v.dtype) ? elementBytes - 1 : 31;
                v.fill = BodyReader.canonicalWord(position + 1, v.dtype) << v.shift;
                (v.axisCount, v.axes) = BodyReader.count(position + 9, "axes", MAX_AXES);
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
                uint256 head = BodyReader.word(position);
                uint256 extent = head >> 224;
                require(extent != 0 && (head >> 128) & type(uint32).max != 0, AxisLimits(extent, uint32(head >> 128)));
                // Eight products of two words of 32 bits: the stride is what a cast leaves of the word.
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
                uint256 digit = BodyReader.byteAt(position);
                require(digit >= next && digit < digits, BodyReader.UnknownDigit(digit));
                next = digit + 1;
                position += COEFFICIENT_BYTES;
            }
            return position;
        }
    }
}
