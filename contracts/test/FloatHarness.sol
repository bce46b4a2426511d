// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {FloatOperation} from "../verifier/FloatOperation.sol";
import {Reduction} from "../verifier/Reduction.sol";
import {StepDecoder} from "../verifier/StepDecoder.sol";
import {View} from "../verifier/ViewDecoder.sol";

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
            uint256 word = FloatOperation.run(operation, a, b, dtype);
            assembly ("memory-safe") {
                mstore(add(add(results, 0x20), shl(5, k)), word)
            }
        }
    }

    /// @notice Returns the dot products of rows with `terms` pairs each.
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
            Reduction.State memory sum = Reduction.start(StepDecoder.REDUCE_DOT, dtype, 0, 1);
            View memory a;
            View memory b;
            (a.pointer, a.step, b.pointer, b.step) = (first, 64, first + 32, 64);
            Reduction.addProducts(sum, a, b, terms);
            uint256 word = Reduction.result(sum);
            assembly ("memory-safe") {
                mstore(add(add(results, 0x20), shl(5, row)), word)
            }
        }
    }
}
