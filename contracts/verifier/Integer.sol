// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";

/// @title Integer primitives on words with one type, modulo 2^bits. Mirrors src/numerics/integer.ts.
/// @dev A word is the value as a 256-bit two's complement number; operands are words of their type. No function
/// reverts, for any operand. Comparisons return 0 or 1. bool counts as an integer with value 0 or 1.
library Integer {
    /// @notice A number modulo 2^bits in the range of the type; for bool, whether it is nonzero.
    function wrap(uint256 value, uint256 dtype) internal pure returns (uint256 word) {
        unchecked {
            uint256 bytesLess1 = (1 << DType.log2Bytes(dtype)) - 1;
            if (DType.isSigned(dtype)) {
                assembly ("memory-safe") {
                    // The bits of the type, its sign extended.
                    word := signextend(bytesLess1, value)
                }
            } else {
                if (dtype == DType.BOOL) return value == 0 ? 0 : 1;
                return value & (type(uint256).max >> (248 - 8 * bytesLess1));
            }
        }
    }

    function add(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            return wrap(a + b, dtype);
        }
    }

    function sub(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            return wrap(a - b, dtype);
        }
    }

    function mul(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        unchecked {
            return wrap(a * b, dtype);
        }
    }

    /// @notice Quotient truncated towards zero; x/0 = 0; min/-1 = min.
    function div(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256 quotient) {
        assembly ("memory-safe") {
            quotient := sdiv(a, b) // 0 for b = 0
        }
        return wrap(quotient, dtype);
    }

    /// @notice Remainder with the sign of the divisor; x mod 0 = 0.
    function mod(uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256 remainder) {
        unchecked {
            remainder = fmod(a, b, dtype);
            if (remainder != 0 && int256(remainder ^ b) < 0) remainder += b;
        }
    }

    /// @notice Remainder with the sign of the dividend; x mod 0 = 0.
    function fmod(uint256 a, uint256 b, uint256) internal pure returns (uint256 remainder) {
        assembly ("memory-safe") {
            remainder := smod(a, b) // 0 for b = 0
        }
    }

    function neg(uint256 a, uint256 dtype) internal pure returns (uint256) {
        return sub(0, a, dtype);
    }

    /// @notice Absolute value; that of the smallest signed value is itself.
    function abs(uint256 a, uint256 dtype) internal pure returns (uint256) {
        return int256(a) < 0 ? neg(a, dtype) : a;
    }

    /// @notice -1, 0 or 1.
    function sign(uint256 a, uint256) internal pure returns (uint256) {
        if (a == 0) return 0;
        return int256(a) < 0 ? type(uint256).max : 1;
    }

    function min(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return int256(a) < int256(b) ? a : b;
    }

    function max(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return int256(a) < int256(b) ? b : a;
    }

    function eq(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return a == b ? 1 : 0;
    }

    function lt(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return int256(a) < int256(b) ? 1 : 0;
    }

    function le(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return int256(a) <= int256(b) ? 1 : 0;
    }

    function and(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return a & b;
    }

    function or(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return a | b;
    }

    function xor(uint256 a, uint256 b, uint256) internal pure returns (uint256) {
        return a ^ b;
    }

    /// @notice Every bit flipped; for bool, the other truth value.
    function not(uint256 a, uint256 dtype) internal pure returns (uint256) {
        if (dtype == DType.BOOL) return a == 0 ? 1 : 0;
        return wrap(~a, dtype);
    }

    /// @notice A shift count outside 0 .. bits-1 (a negative one too) makes the result 0.
    function shl(uint256 a, uint256 count, uint256 dtype) internal pure returns (uint256) {
        return count >= bits(dtype) ? 0 : wrap(a << count, dtype);
    }

    /// @notice Logical for unsigned types; arithmetic (towards minus infinity) for signed ones, 0 as well from `bits`
    /// places on.
    function shr(uint256 a, uint256 count, uint256 dtype) internal pure returns (uint256) {
        return count >= bits(dtype) ? 0 : uint256(int256(a) >> count);
    }

    function bits(uint256 dtype) private pure returns (uint256) {
        return 8 << DType.log2Bytes(dtype);
    }
}
