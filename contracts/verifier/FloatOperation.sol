// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Float} from "./Float.sol";
import {IElementary} from "./IElementary.sol";
import {Signature} from "./Signature.sol";

/// @title The dispatch over the arithmetic of Float.sol.
library FloatOperation {
    /// @notice Returns the result of an operation (docs/program.md) on words of a float type; a unary operation ignores
    /// `b`.
    /// @dev Reverts with UnknownFunction for another code.
    function run(uint256 operation, uint256 a, uint256 b, uint256 dtype) internal pure returns (uint256) {
        if (operation < Signature.NEG) {
            if (operation == Signature.ADD) return Float.add(a, b, dtype);
            if (operation == Signature.MUL) return Float.mul(a, b, dtype);
            if (operation == Signature.SUB) return Float.sub(a, b, dtype);
            if (operation == Signature.DIV) return Float.div(a, b, dtype);
            if (operation == Signature.MIN) return Float.min(a, b, dtype);
            if (operation == Signature.MAX) return Float.max(a, b, dtype);
            if (operation == Signature.FMOD) return Float.fmod(a, b, dtype);
        } else if (operation < Signature.SQRT) {
            if (operation == Signature.LT) return Float.lt(a, b, dtype);
            if (operation == Signature.LE) return Float.le(a, b, dtype);
            if (operation == Signature.EQ) return Float.eq(a, b, dtype);
            if (operation == Signature.NEG) return Float.neg(a, dtype);
            if (operation == Signature.ABS) return Float.abs(a, dtype);
            if (operation == Signature.SIGN) return Float.sign(a, dtype);
        } else {
            if (operation == Signature.SQRT) return Float.sqrt(a, dtype);
            if (operation == Signature.FLOOR) return Float.floor(a, dtype);
            if (operation == Signature.CEIL) return Float.ceil(a, dtype);
            if (operation == Signature.ROUND) return Float.round(a, dtype);
            if (operation == Signature.IS_NAN) return Float.isNaN(a, dtype) ? 1 : 0;
            if (operation == Signature.IS_INF) return Float.isInfinite(a, dtype) ? 1 : 0;
        }
        revert IElementary.UnknownFunction(operation);
    }
}
