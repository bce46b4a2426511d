// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Correctly rounded elementary functions on float32, float16, bfloat16 and float64, and the arithmetic of the
/// last three.
/// @notice Stateless; a separate contract that keeps the calling step verifier below the contract size limit.
interface IElementary {
    /// @notice No elementary function has this operation code.
    error UnknownFunction(uint256 opcode);

    /// @notice Returns the value of a function, rounded once to nearest even: defined by src/numerics/elementary, and
    /// for float64 by src/numerics/elementary64.
    /// @dev Total: returns a value for every pair of bit patterns (bits above the type's are ignored; -0 is read as +0
    /// and any NaN as the type's canonical NaN), within 16,000 gas, for float64 within 100,000. Reverts only with
    /// UnknownFunction.
    /// @param opcode The operation (docs/program.md): pow 0x18, or one from 0x50 (exp) to 0x61 (atanh). For types other
    /// than float32, also any other operation on floats: 0x10 (add) to 0x45 (isInf).
    /// @param dtype The type of the operands: float32 (1), float16 (10), float64 (11) or bfloat16 (16).
    /// @param a The first operand, given by the bits of a `dtype` number.
    /// @param b The second operand; ignored by a unary operation.
    /// @return word The result, given by the bits of a `dtype` number, never -0, and no NaN but the canonical NaN; for
    /// a comparison or a test 0 or 1.
    function evaluate(uint256 opcode, uint256 dtype, uint256 a, uint256 b) external pure returns (uint256 word);
}
