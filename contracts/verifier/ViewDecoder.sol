// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BodyReader} from "./BodyReader.sol";
import {DType} from "./DType.sol";
import {TensorRef} from "./TensorRefs.sol";

/// @notice The way to read one input, and the evaluation's current position.
/// @param input Number of the input.
/// @param dtype The input's element type.
/// @param axes Calldata position of the first axis.
/// @param axisCount The number of axes.
/// @param shift 256 less the bits of an element: shifting the word at `pointer` by this amount gives the element.
/// @param fill The fill value in a tensor's format: in the highest bits.
/// @param pointer Memory address of the current element, most significant byte first.
/// @param step Bytes from one term's element to the next term's (two's complement).
/// @param left Terms, from the current term on, for which `pointer` and `step` hold.
/// @param top Number of the byte that holds the sign, from the lowest; 31 for an unsigned type.
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

/// @dev Where the fields of a `View` lie in memory, for assembly: bytes from its address.
uint256 constant VIEW_DTYPE = 0x20;
uint256 constant VIEW_SHIFT = 0x80;
uint256 constant VIEW_FILL = 0xa0;
uint256 constant VIEW_POINTER = 0xc0;
uint256 constant VIEW_STEP = 0xe0;
uint256 constant VIEW_LEFT = 0x100;
uint256 constant VIEW_TOP = 0x120;
/// @dev Bytes of a `View` in memory.
uint256 constant VIEW_BYTES = 0x140;

/// @dev An axis in a body: extent 4 bytes, stride 4, base 4, divisor 4, index read 1, number of coefficients 1. Each
/// shift brings a field to the lowest bits of the word that begins at the axis.
uint256 constant AXIS_EXTENT = 224;
uint256 constant AXIS_STRIDE = 192;
uint256 constant AXIS_BASE = 160;
uint256 constant AXIS_DIVISOR = 128;
uint256 constant AXIS_INDEX_READ = 120;
uint256 constant AXIS_COEFFICIENTS = 112;
/// @dev Bytes of an axis before its coefficients.
uint256 constant AXIS_BYTES = 18;

/// @dev A coefficient in a body: digit 1 byte, factor 4. The shift brings the factor to the lowest bits of a word.
uint256 constant COEFFICIENT_FACTOR = 216;
uint256 constant COEFFICIENT_BYTES = 5;

/// @title Decodes and checks views (docs/program.md, "View").
library ViewDecoder {
    error UnknownInput(uint256 input);
    error AxisLimits(uint256 extent, uint256 divisor);
    error BadIndexRead(uint256 read);
    error ViewPastEnd(uint256 last, uint256 count);

    uint256 internal constant MAX_READS = 16;
    uint256 internal constant NO_INDEX_READ = 255;

    uint256 private constant MAX_AXES = 8;

    /// @dev A view in a body: input 1 byte, fill value 8, number of axes 1. Where each begins, from the view's first
    /// byte.
    uint256 private constant FILL = 1;
    uint256 private constant AXES = 9;

    /// @notice Reads a list of reads from `inputs`, which may use the first `digits` digits, and returns the position
    /// after the list.
    function read(
        TensorRef[] memory inputs,
        uint256 position,
        uint256 digits
    ) internal pure returns (View[] memory views, uint256) {
        unchecked {
            uint256 count;
            (count, position) = BodyReader.count(position, "reads", MAX_READS);
            uint256 array = BodyReader.newStructs(count, VIEW_BYTES);
            assembly ("memory-safe") {
                // Only the type changes.
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
                v.fill = BodyReader.canonicalWord(position + FILL, v.dtype) << v.shift;
                (v.axisCount, v.axes) = BodyReader.count(position + AXES, "axes", MAX_AXES);
                uint256 last;
                (position, last, indirect) = _axes(v, views, n, indirect, digits);
                // INVARIANT: in bounds on every axis means inside the tensor.
                require(last < ref.count, ViewPastEnd(last, ref.count));
            }
            return (views, position);
        }
    }

    /// @dev Checks the axes of read `n`; gives where they end, the highest element that they reach, and which reads are
    /// indirect.
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
                uint256 extent = head >> AXIS_EXTENT;
                require(
                    extent != 0 && (head >> AXIS_DIVISOR) & type(uint32).max != 0,
                    AxisLimits(extent, uint32(head >> AXIS_DIVISOR))
                );
                // Eight products of two 32-bit words: the cast keeps the word's low bits as the stride.
                last += (extent - 1) * uint32(head >> AXIS_STRIDE);
                uint256 index = (head >> AXIS_INDEX_READ) & 0xff;
                if (index != NO_INDEX_READ) {
                    // SAFETY: an index read comes before this read and never reads indirectly: no recursion.
                    require(index < n && (indirect >> index) & 1 == 0, BadIndexRead(index));
                    require(DType.isInteger(views[index].dtype), BadIndexRead(index));
                    indirect |= 1 << n;
                }
                position = _checkCoefficients(position + AXIS_BYTES, (head >> AXIS_COEFFICIENTS) & 0xff, digits);
            }
            return (position, last, indirect);
        }
    }

    /// @dev Requires strictly increasing digits, which limits the count to 24 coefficients.
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
