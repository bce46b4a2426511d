// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IElementary} from "../verifier/IElementary.sol";

/// @title Calls the elementary functions in batches, as the step verifier does, and measures their gas.
contract ElementaryHarness {
    /// @notice Evaluates one function on many operands.
    /// @param dtype The type of the operands and results.
    /// @param operands Pairs of big-endian 64-bit words, packed.
    /// @return results The results, packed alike.
    /// @return maxGas The maximum gas for one call, including the call itself.
    /// @return totalGas The gas of all calls.
    function evaluateMany(
        IElementary elementary,
        uint256 opcode,
        uint256 dtype,
        bytes calldata operands
    ) external view returns (bytes memory results, uint256 maxGas, uint256 totalGas) {
        uint256 count = operands.length / 16;
        results = new bytes(count * 8);
        elementary.evaluate(opcode, dtype, 0, 0); // warms the account: a step proof pays for that once
        for (uint256 i = 0; i < count; ++i) {
            uint256 pair = uint128(bytes16(operands[i * 16:i * 16 + 16]));
            uint256 before = gasleft();
            uint256 word = elementary.evaluate(opcode, dtype, pair >> 64, pair & type(uint64).max);
            uint256 used = before - gasleft();
            totalGas += used;
            if (used > maxGas) maxGas = used;
            for (uint256 k = 0; k < 8; ++k) results[i * 8 + k] = bytes1(uint8(word >> (56 - 8 * k)));
        }
    }
}
