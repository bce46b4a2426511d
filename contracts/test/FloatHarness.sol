// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float} from "../verifier/Float.sol";
import {FloatSum} from "../verifier/FloatSum.sol";
import {Signature} from "../verifier/Signature.sol";

/// @title Runs the arithmetic of any float type on packed batches, for tests only.
/// @dev Operands and results are big-endian words of 32 bytes.
contract FloatHarness {
    /// @notice An operation (docs/program.md) on pairs of words. A unary one ignores the second.
    function operate(
        uint256 operation,
        uint256 dtype,
        bytes calldata operands
    ) external pure returns (bytes memory results) {
        uint256 pairs = operands.length / 64;
        results = new bytes(32 * pairs);
        for (uint256 k = 0; k < pairs; ++k) {
            uint256 a = uint256(bytes32(operands[64 * k:64 * k + 32]));
            uint256 b = uint256(bytes32(operands[64 * k + 32:64 * k + 64]));
            uint256 word = _binary(operation, a, b, dtype);
            assembly ("memory-safe") {
                mstore(add(add(results, 0x20), shl(5, k)), word)
            }
        }
    }

    /// @notice The dot products of rows of `terms` pairs.
    function dots(
        uint256 dtype,
        uint256 bytesPerWord,
        bytes memory operands,
        uint256 terms
    ) external pure returns (bytes memory results) {
        uint256 rows = operands.length / 64 / terms;
        results = new bytes(32 * rows);
        for (uint256 row = 0; row < rows; ++row) {
            uint256 first;
            assembly ("memory-safe") {
                first := sub(add(add(operands, 0x40), mul(shl(6, terms), row)), bytesPerWord)
            }
            FloatSum.Acc memory acc = FloatSum.start(dtype);
            FloatSum.addProducts(acc, dtype, first, 64, first + 32, 64, terms);
            uint256 word = FloatSum.round(acc, dtype);
            assembly ("memory-safe") {
                mstore(add(add(results, 0x20), shl(5, row)), word)
            }
        }
    }

    function _binary(uint256 operation, uint256 a, uint256 b, uint256 dtype) private pure returns (uint256) {
        if (operation == Signature.ADD) return Float.add(a, b, dtype);
        if (operation == Signature.SUB) return Float.sub(a, b, dtype);
        if (operation == Signature.MUL) return Float.mul(a, b, dtype);
        if (operation == Signature.DIV) return Float.div(a, b, dtype);
        if (operation == Signature.FMOD) return Float.fmod(a, b, dtype);
        if (operation == Signature.MIN) return Float.min(a, b, dtype);
        if (operation == Signature.MAX) return Float.max(a, b, dtype);
        if (operation == Signature.EQ) return Float.eq(a, b, dtype);
        if (operation == Signature.LT) return Float.lt(a, b, dtype);
        if (operation == Signature.LE) return Float.le(a, b, dtype);
        if (operation == Signature.NEG) return Float.neg(a, dtype);
        if (operation == Signature.ABS) return Float.abs(a, dtype);
        if (operation == Signature.SIGN) return Float.sign(a, dtype);
        if (operation == Signature.SQRT) return Float.sqrt(a, dtype);
        if (operation == Signature.FLOOR) return Float.floor(a, dtype);
        if (operation == Signature.CEIL) return Float.ceil(a, dtype);
        if (operation == Signature.ROUND) return Float.round(a, dtype);
        if (operation == Signature.IS_NAN) return Float.isNaN(a, dtype) ? 1 : 0;
        return Float.isInfinite(a, dtype) ? 1 : 0;
    }
}
