// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Cast} from "./Cast.sol";
import {DType} from "./DType.sol";
import {Float32} from "./Float32.sol";
import {IElementary} from "./IElementary.sol";
import {Integer} from "./Integer.sol";
import {Signature} from "./Signature.sol";
import {Code, StepDecoder} from "./StepDecoder.sol";

/// @title Runs straight-line code over slots. Mirrors src/program/expression.ts.
/// @dev Slot k is the word at memory address `slots + 32 k`. Operands were checked by the decoder.
library Expression {
    /// @dev Byte number of each operand in an instruction; StepDecoder has the shifts.
    uint256 private constant BYTE_A = 2;
    uint256 private constant BYTE_B = 3;
    uint256 private constant BYTE_C = 4;

    /// @notice Appends one word an instruction, from slot `next` on.
    function run(
        Code memory code,
        uint256 slots,
        uint256 next,
        uint256[] memory digits,
        IElementary elementary
    ) internal pure {
        unchecked {
            uint256 position = code.start;
            uint256 end = position + StepDecoder.INSTRUCTION_BYTES * code.length;
            uint256 target = slots + 32 * next;
            while (position < end) {
                uint256 instruction;
                uint256 a;
                uint256 b;
                assembly ("memory-safe") {
                    instruction := calldataload(position)
                    // The words in the slots of both operands, 32 bytes a slot.
                    a := mload(add(slots, shl(5, byte(BYTE_A, instruction))))
                    b := mload(add(slots, shl(5, byte(BYTE_B, instruction))))
                }
                uint256 operation = instruction >> StepDecoder.OPERATION;
                uint256 dtype = (instruction >> StepDecoder.ELEMENT_TYPE) & 0xff;
                if (operation > Signature.CAST) {
                    if (dtype == DType.FLOAT32) a = _float32(operation, a, b, elementary);
                    else if (DType.isFloat(dtype)) a = elementary.evaluate(operation, dtype, a, b);
                    else a = _integer(operation, a, b, dtype);
                } else if (operation == Signature.SELECT) {
                    if (a == 0) {
                        assembly ("memory-safe") {
                            b := mload(add(slots, shl(5, byte(BYTE_C, instruction))))
                        }
                    }
                    a = b;
                } else if (operation == Signature.CAST) {
                    a = Cast.cast(a, dtype, (instruction >> StepDecoder.OPERAND_B) & 0xff);
                } else {
                    a = digits[(instruction >> StepDecoder.OPERAND_A) & 0xff];
                }
                assembly ("memory-safe") {
                    mstore(target, a)
                }
                target += 32;
                position += StepDecoder.INSTRUCTION_BYTES;
            }
        }
    }

    function _float32(uint256 operation, uint256 a, uint256 b, IElementary elementary) private pure returns (uint256) {
        if (operation < Signature.NEG) {
            if (operation == Signature.ADD) return Float32.add(a, b);
            if (operation == Signature.MUL) return Float32.mul(a, b);
            if (operation == Signature.SUB) return Float32.sub(a, b);
            if (operation == Signature.DIV) return Float32.div(a, b);
            if (operation == Signature.MIN) return Float32.min(a, b);
            if (operation == Signature.MAX) return Float32.max(a, b);
            if (operation == Signature.FMOD) return Float32.fmod(a, b);
            return elementary.evaluate(operation, DType.FLOAT32, a, b);
        }
        if (operation < Signature.SQRT) {
            if (operation == Signature.LT) return Float32.lt(a, b);
            if (operation == Signature.LE) return Float32.le(a, b);
            if (operation == Signature.EQ) return Float32.eq(a, b);
            if (operation == Signature.NEG) return Float32.neg(a);
            if (operation == Signature.ABS) return Float32.abs(a);
            return Float32.sign(a);
        }
        if (operation >= Signature.EXP) return elementary.evaluate(operation, DType.FLOAT32, a, 0);
        if (operation == Signature.SQRT) return Float32.sqrt(a);
        if (operation == Signature.FLOOR) return Float32.floor(a);
        if (operation == Signature.CEIL) return Float32.ceil(a);
        if (operation == Signature.ROUND) return Float32.round(a);
        return (operation == Signature.IS_NAN ? Float32.isNaN(a) : Float32.isInfinite(a)) ? 1 : 0;
    }

    function _integer(uint256 operation, uint256 a, uint256 b, uint256 dtype) private pure returns (uint256) {
        if (operation < Signature.NEG) {
            if (operation == Signature.ADD) return Integer.add(a, b, dtype);
            if (operation == Signature.SUB) return Integer.sub(a, b, dtype);
            if (operation == Signature.MUL) return Integer.mul(a, b, dtype);
            if (operation == Signature.DIV) return Integer.div(a, b, dtype);
            if (operation == Signature.MOD) return Integer.mod(a, b, dtype);
            if (operation == Signature.FMOD) return Integer.fmod(a, b, dtype);
            if (operation == Signature.MIN) return Integer.min(a, b, dtype);
            return Integer.max(a, b, dtype);
        }
        if (operation < Signature.AND) {
            if (operation == Signature.EQ) return Integer.eq(a, b, dtype);
            if (operation == Signature.LT) return Integer.lt(a, b, dtype);
            if (operation == Signature.LE) return Integer.le(a, b, dtype);
            if (operation == Signature.NEG) return Integer.neg(a, dtype);
            if (operation == Signature.ABS) return Integer.abs(a, dtype);
            return Integer.sign(a, dtype);
        }
        if (operation == Signature.AND) return Integer.and(a, b, dtype);
        if (operation == Signature.OR) return Integer.or(a, b, dtype);
        if (operation == Signature.XOR) return Integer.xor(a, b, dtype);
        if (operation == Signature.NOT) return Integer.not(a, dtype);
        if (operation == Signature.SHL) return Integer.shl(a, b, dtype);
        return Integer.shr(a, b, dtype);
    }
}
