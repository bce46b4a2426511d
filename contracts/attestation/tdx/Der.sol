// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Dates} from "./Dates.sol";
import {Words} from "./Words.sol";

/// @title A reader for DER (X.690) as used in certificates and revocation lists. It reads directly from calldata.
/// @dev A value means the start and stop of some content. The library copies nothing and never recurses: callers
/// descend a structure level by level. Each value ends within its enclosing value; the outermost value ends with the
/// data. Lengths are definite, minimal and below 2^24.
library Der {
    uint8 internal constant BOOLEAN = 0x01;
    uint8 internal constant INTEGER = 0x02;
    uint8 internal constant BIT_STRING = 0x03;
    uint8 internal constant OCTET_STRING = 0x04;
    uint8 internal constant OBJECT_IDENTIFIER = 0x06;
    uint8 internal constant UTC_TIME = 0x17;
    uint8 internal constant GENERALIZED_TIME = 0x18;
    uint8 internal constant SEQUENCE = 0x30;
    uint8 internal constant SET = 0x31;

    /// @notice The data is not DER, or a value other than expected. `pos` is the position, in bytes.
    error MalformedDer(uint256 pos);

    /// @notice Reads the value at `pos`, which must have a tag and end by `end`, where the value that holds it ends.
    /// @return start Where its content starts.
    /// @return stop Where it stops: the next value's place.
    // SAFETY: reads beyond `end` touch only a tag and a length, and a value whose tag or length lies beyond `end` also
    // ends beyond it. No position overflows: each lies below the data's end plus 2^25.
    function read(
        bytes calldata data,
        uint256 pos,
        uint256 end,
        uint8 tag
    ) internal pure returns (uint256 start, uint256 stop) {
        unchecked {
            uint256 head = Words.load(data, pos);
            uint256 length = (head >> 240) & 0xff;
            start = pos + 2;
            stop = start + length;
            // Most values are shorter than 128 bytes: check the tag and the high bit of the length together.
            if (head >> 247 == uint256(tag) << 1 && stop <= end) return (start, stop);
            bool isMinimal = true;
            if (length >= 0x80) {
                if (length == 0x81) {
                    length = (head >> 232) & 0xff;
                    isMinimal = length >= 0x80;
                    start = pos + 3;
                } else {
                    // Two or three bytes, of which the first is not zero. A longer length or none is refused.
                    bool isLong = length == 0x83;
                    isMinimal = (isLong || length == 0x82) && (head >> 232) & 0xff != 0;
                    length = isLong ? (head >> 216) & 0xffffff : (head >> 224) & 0xffff;
                    start = pos + (isLong ? 5 : 4);
                }
            }
            stop = start + length;
            if (head >> 248 != tag || !isMinimal || stop > end) revert MalformedDer(pos);
        }
    }

    /// @notice The tag of the value at `pos`; 0 if there is none.
    function peek(bytes calldata data, uint256 pos, uint256 end) internal pure returns (uint8) {
        return pos < end ? uint8(Words.load(data, pos) >> 248) : 0;
    }

    /// @notice Reads an INTEGER of 0 to 2^256 - 1.
    function readUint(
        bytes calldata data,
        uint256 pos,
        uint256 end
    ) internal pure returns (uint256 value, uint256 stop) {
        uint256 start;
        (start, stop) = read(data, pos, end, INTEGER);
        unchecked {
            uint256 first = Words.load(data, start) >> 240;
            uint256 length = stop - start;
            // Not negative, and a leading zero only before a byte whose highest bit is set.
            bool isMinimal = length == 1 ? first < 0x8000 : first >= 0x80 && first < 0x8000;
            if (first < 0x100 && length > 1) {
                ++start;
                --length;
            }
            if (length == 0 || length > 32 || !isMinimal) revert MalformedDer(pos);
            value = Words.number(data, start, length);
        }
    }

    /// @notice Reads an OBJECT IDENTIFIER with at most 32 bytes and returns its content as a number.
    function readOid(bytes calldata data, uint256 pos, uint256 end) internal pure returns (uint256 oid, uint256 stop) {
        uint256 start;
        (start, stop) = read(data, pos, end, OBJECT_IDENTIFIER);
        unchecked {
            uint256 length = stop - start;
            // The first byte is never zero, so different contents give different numbers.
            if (length == 0 || length > 32 || Words.load(data, start) >> 248 == 0) revert MalformedDer(pos);
            oid = Words.number(data, start, length);
        }
    }

    /// @notice Reads a UTCTime (years 1950 to 2049) or a GeneralizedTime, both to the second and in UTC, as unix time.
    function readTime(bytes calldata data, uint256 pos, uint256 end) internal pure returns (uint64 time, uint256 stop) {
        uint256 start;
        uint256 year;
        bool isShort = peek(data, pos, end) == UTC_TIME;
        (start, stop) = read(data, pos, end, isShort ? UTC_TIME : GENERALIZED_TIME);
        if (stop - start != (isShort ? 13 : 15)) revert MalformedDer(pos);
        uint256 digits = Words.load(data, start);
        if (isShort) {
            year = Dates.two(digits, 0);
            year += year < 50 ? 2000 : 1900;
        } else {
            year = Dates.two(digits, 0) * 100 + Dates.two(digits, 2);
            digits <<= 16;
        }
        if ((digits >> 152) & 0xff != 0x5a) revert MalformedDer(pos);
        time = Dates.unixTime(
            year,
            Dates.two(digits, 2),
            Dates.two(digits, 4),
            Dates.two(digits, 6),
            Dates.two(digits, 8),
            Dates.two(digits, 10)
        );
    }

    /// @notice Returns content of at most 32 bytes as a number.
    function short(bytes calldata data, uint256 start, uint256 stop) internal pure returns (uint256) {
        return start == stop ? 0 : Words.number(data, start, stop - start);
    }
}
