// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IElementary} from "../verifier/IElementary.sol";

/// @title Calls the elementary functions in batches, as the step verifier does, and measures their gas.
contract ElementaryHarness {
    /// @notice Evaluates one function on many operands.
    /// @param dtype The type of the operands and results.
    /// @param operands Pairs of big-endian 32-bit words, packed.
    /// @return results The results, packed alike.
    /// @return maxGas The largest gas of one call, the call itself included.
    /// @return totalGas The gas of all calls.
    function evaluateMany(
        IElementary elementary,
        uint256 opcode,
        uint256 dtype,
        bytes calldata operands
    ) external view returns (bytes memory results, uint256 maxGas, uint256 totalGas) {
        uint256 count = operands.length / 8;
        results = new bytes(count * 4);
        elementary.evaluate(opcode, dtype, 0, 0); // warms the account: a step proof pays for that once
        for (uint256 i = 0; i < count; ++i) {
            uint256 pair = uint64(bytes8(operands[i * 8:i * 8 + 8]));
            uint256 before = gasleft();
            uint256 word = elementary.evaluate(opcode, dtype, pair >> 32, pair & 0xffffffff);
            uint256 used = before - gasleft();
            totalGas += used;
            if (used > maxGas) maxGas = used;
            for (uint256 k = 0; k < 4; ++k) results[i * 4 + k] = bytes1(uint8(word >> (24 - 8 * k)));
        }
    }
}
