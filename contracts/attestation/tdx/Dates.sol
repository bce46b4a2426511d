// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Dates as certificates and documents have them.
library Dates {
    /// @dev The positions of the marks (non-digits) in `2025-06-19T10:16:03Z`, and the marks themselves.
    uint256 private constant MARKS = 0xff0000ff0000ff0000ff0000ff0000ff << 96;
    uint256 private constant MARKS_OF_TEXT = 0x2d00002d00005400003a00003a00005a << 96;

    error BadDate();

    /// @notice Unix time of a date in the Gregorian calendar, in UTC.
    /// @dev Reverts with `BadDate` if the date does not exist or lies before 1970.
    function unixTime(
        uint256 year,
        uint256 month,
        uint256 day,
        uint256 hour,
        uint256 minute,
        uint256 second
    ) internal pure returns (uint64) {
        require(year >= 1970 && year <= 9999 && month >= 1 && month <= 12, BadDate());
        require(day >= 1 && day <= _daysOf(year, month), BadDate());
        require(hour < 24 && minute < 60 && second < 60, BadDate());
        // Days since 1 March of year 0, with the leap day at the end of each year.
        uint256 y = month > 2 ? year : year - 1;
        uint256 m = month > 2 ? month - 3 : month + 9;
        uint256 passed = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
        // 719,468 of these days were before 1970.
        return uint64(((passed - 719_468) * 24 + hour) * 3_600 + minute * 60 + second);
    }

    /// @notice Unix time of a date in the format `2025-06-19T10:16:03Z`.
    /// @dev Reverts with `BadDate`.
    function fromText(bytes20 text) internal pure returns (uint64) {
        uint256 t = uint256(bytes32(text));
        // The marks stand at 4, 7, 10, 13, 16 and 19.
        require(t & MARKS == MARKS_OF_TEXT, BadDate());
        return unixTime(two(t, 0) * 100 + two(t, 2), two(t, 5), two(t, 8), two(t, 11), two(t, 14), two(t, 17));
    }

    /// @notice The number written as two ASCII digits in a word.
    /// @dev Reverts with `BadDate`.
    function two(uint256 word, uint256 pos) internal pure returns (uint256) {
        unchecked {
            uint256 pair = word >> (240 - 8 * pos);
            // A character below "0" wraps to a large number.
            uint256 tens = ((pair >> 8) & 0xff) - 48;
            uint256 ones = (pair & 0xff) - 48;
            require(tens < 10 && ones < 10, BadDate());
            return tens * 10 + ones;
        }
    }

    function _daysOf(uint256 year, uint256 month) private pure returns (uint256) {
        if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    }
}
