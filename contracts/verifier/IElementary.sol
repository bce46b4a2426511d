// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Correctly rounded elementary functions on float32, float16, bfloat16 and float64, and the arithmetic of the
/// last three.
/// @notice Stateless; a contract of its own so that the step verifier, which calls it, stays below the contract size
/// limit.
interface IElementary {
    /// @notice There is no elementary function with this operation code.
    error UnknownFunction(uint256 opcode);

    /// @notice The value of a function, rounded once to nearest even: src/numerics/elementary is the definition, and
    /// src/numerics/elementary64 that of float64.
    /// @dev Total: returns a value for every pair of bit patterns (bits above the type's are ignored; -0 is read as +0
    /// and any NaN as the type's one), within 16,000 gas, of float64 within 100,000. Reverts only with UnknownFunction.
    /// @param opcode The operation (docs/program.md): pow 0x18, or one of 0x50 (exp) to 0x61 (atanh). If the type is
    /// not float32, also any other operation on floats: 0x10 (add) to 0x45 (isInf).
    /// @param dtype The type of the operands: float32 (1), float16 (10), float64 (11) or bfloat16 (16).
    /// @param a The first operand, the bits of such a number.
    /// @param b The second operand; ignored by an operation with one.
    /// @return word The result, the bits of such a number, never -0, and no NaN but the type's one; of a comparison or
    /// a test 0 or 1.
    function evaluate(uint256 opcode, uint256 dtype, uint256 a, uint256 b) external pure returns (uint256 word);
}
