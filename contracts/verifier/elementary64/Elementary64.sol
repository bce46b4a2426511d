// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IElementary} from "../IElementary.sol";
import {Signature} from "../Signature.sol";
import {Arc64} from "./Arc64.sol";
import {Erf64} from "./Erf64.sol";
import {Exponential64} from "./Exponential64.sol";
import {Logarithm64} from "./Logarithm64.sol";
import {Pow64} from "./Pow64.sol";
import {Trigonometric64} from "./Trigonometric64.sol";

/// @title The dispatch over the elementary functions of float64.
library Elementary64 {
    /// @dev Returns a function's value for words whose lower 64 bits count; a unary function ignores `b`. Reverts with
    /// UnknownFunction for another code.
    function evaluate(uint256 opcode, uint256 a, uint256 b) internal pure returns (uint256) {
        a &= type(uint64).max;
        b &= type(uint64).max;
        if (opcode == Signature.POW) return Pow64.pow(a, b);
        if (opcode == Signature.EXP) return Exponential64.exp(a);
        if (opcode == Signature.LOG) return Logarithm64.log(a);
        if (opcode == Signature.TANH) return Exponential64.tanh(a);
        if (opcode == Signature.SIGMOID) return Exponential64.sigmoid(a);
        if (opcode == Signature.ERF) return Erf64.erf(a);
        if (opcode == Signature.EXPM1) return Exponential64.expm1(a);
        if (opcode == Signature.LOG1P) return Logarithm64.log1p(a);
        if (opcode == Signature.SIN) return Trigonometric64.sin(a);
        if (opcode == Signature.COS) return Trigonometric64.cos(a);
        if (opcode == Signature.TAN) return Trigonometric64.tan(a);
        if (opcode == Signature.ASIN) return Arc64.asin(a);
        if (opcode == Signature.ACOS) return Arc64.acos(a);
        if (opcode == Signature.ATAN) return Arc64.atan(a);
        if (opcode == Signature.SINH) return Exponential64.sinh(a);
        if (opcode == Signature.COSH) return Exponential64.cosh(a);
        if (opcode == Signature.ASINH) return Logarithm64.asinh(a);
        if (opcode == Signature.ACOSH) return Logarithm64.acosh(a);
        if (opcode == Signature.ATANH) return Logarithm64.atanh(a);
        revert IElementary.UnknownFunction(opcode);
    }
}
