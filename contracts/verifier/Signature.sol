// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Operations of an expression: codes and signatures. Mirrors src/program/operations.ts.
library Signature {
    uint256 internal constant DIGIT = 0x00;
    uint256 internal constant SELECT = 0x01;
    uint256 internal constant CAST = 0x02;
    uint256 internal constant ADD = 0x10;
    uint256 internal constant SUB = 0x11;
    uint256 internal constant MUL = 0x12;
    uint256 internal constant DIV = 0x13;
    uint256 internal constant MOD = 0x14;
    uint256 internal constant FMOD = 0x15;
    uint256 internal constant MIN = 0x16;
    uint256 internal constant MAX = 0x17;
    uint256 internal constant POW = 0x18;
    uint256 internal constant NEG = 0x20;
    uint256 internal constant ABS = 0x21;
    uint256 internal constant SIGN = 0x22;
    uint256 internal constant EQ = 0x28;
    uint256 internal constant LT = 0x29;
    uint256 internal constant LE = 0x2a;
    uint256 internal constant AND = 0x30;
    uint256 internal constant OR = 0x31;
    uint256 internal constant XOR = 0x32;
    uint256 internal constant NOT = 0x33;
    uint256 internal constant SHL = 0x34;
    uint256 internal constant SHR = 0x35;
    uint256 internal constant SQRT = 0x40;
    uint256 internal constant FLOOR = 0x41;
    uint256 internal constant CEIL = 0x42;
    uint256 internal constant ROUND = 0x43;
    uint256 internal constant IS_NAN = 0x44;
    uint256 internal constant IS_INF = 0x45;
    uint256 internal constant EXP = 0x50;
    uint256 internal constant LOG = 0x51;
    uint256 internal constant TANH = 0x52;
    uint256 internal constant SIGMOID = 0x53;
    uint256 internal constant ERF = 0x54;
    uint256 internal constant EXPM1 = 0x55;
    uint256 internal constant LOG1P = 0x56;
    uint256 internal constant SIN = 0x57;
    uint256 internal constant COS = 0x58;
    uint256 internal constant TAN = 0x59;
    uint256 internal constant ASIN = 0x5a;
    uint256 internal constant ACOS = 0x5b;
    uint256 internal constant ATAN = 0x5c;
    uint256 internal constant SINH = 0x5d;
    uint256 internal constant COSH = 0x5e;
    uint256 internal constant ASINH = 0x5f;
    uint256 internal constant ACOSH = 0x60;
    uint256 internal constant ATANH = 0x61;

    /// @dev A signature is one byte: arity (bits 0-1), accepted types (bit 2 floats up to 32 bits, 3 integer, 4 bool, 6
    /// float64), bool result (bit 5). No accepted type: no such operation. Byte k of TABLE_n belongs to operation 32 n
    /// + k.
    uint256 private constant TABLE_0 = 0x085f5d000000000000000000000000004e4e4e4e0a4e4e4e4600000000000000;
    uint256 private constant TABLE_1 = 0x4d4d4d00000000007e6e6e00000000001a1a1a190a0a00000000000000000000;
    uint256 private constant TABLE_2 = 0x4545454565650000000000000000000045454545454545454545454545454545;
    uint256 private constant TABLE_3 = 0x4545000000000000000000000000000000000000000000000000000000000000;

    /// @dev Byte d holds the bit of the type with code d, or 0 for an unknown type.
    uint256 private constant GROUPS = 0x0004080808080808001004400808000004000000000000000000000000000000;

    /// @notice Returns the signature of an operation code; for an unknown operation, a signature that accepts no type.
    function lookup(uint256 operation) internal pure returns (uint256 signature) {
        uint256 table = operation < 0x20 ? TABLE_0 : TABLE_1;
        if (operation >= 0x40) table = operation < 0x60 ? TABLE_2 : TABLE_3;
        assembly ("memory-safe") {
            // Byte `operation mod 32` of its table; 0, which accepts no type, beyond the tables.
            signature := mul(byte(and(operation, 0x1f), table), lt(operation, 0x80))
        }
    }

    function arity(uint256 signature) internal pure returns (uint256) {
        return signature & 3;
    }

    function accepts(uint256 signature, uint256 dtype) internal pure returns (bool accepted) {
        assembly ("memory-safe") {
            // `byte` gives 0 past the 32nd byte, and therefore no type beyond gets accepted.
            accepted := iszero(iszero(and(signature, byte(dtype, GROUPS))))
        }
    }

    function givesBool(uint256 signature) internal pure returns (bool) {
        return signature & 32 != 0;
    }
}
