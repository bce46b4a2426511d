// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DType} from "./DType.sol";
import {Acos} from "./elementary/Acos.sol";
import {Acosh} from "./elementary/Acosh.sol";
import {Asin} from "./elementary/Asin.sol";
import {Asinh} from "./elementary/Asinh.sol";
import {Atan} from "./elementary/Atan.sol";
import {Atanh} from "./elementary/Atanh.sol";
import {Cos} from "./elementary/Cos.sol";
import {Cosh} from "./elementary/Cosh.sol";
import {Erf} from "./elementary/Erf.sol";
import {Exp} from "./elementary/Exp.sol";
import {Expm1} from "./elementary/Expm1.sol";
import {Log} from "./elementary/Log.sol";
import {Log1p} from "./elementary/Log1p.sol";
import {Pow} from "./elementary/Pow.sol";
import {Sigmoid} from "./elementary/Sigmoid.sol";
import {Sin} from "./elementary/Sin.sol";
import {Sinh} from "./elementary/Sinh.sol";
import {Tan} from "./elementary/Tan.sol";
import {Tanh} from "./elementary/Tanh.sol";
import {Elementary64} from "./elementary64/Elementary64.sol";
import {Float} from "./Float.sol";
import {FloatOperation} from "./FloatOperation.sol";
import {IElementary} from "./IElementary.sol";
import {Signature} from "./Signature.sol";

/// @title The dispatch over the functions in contracts/verifier/elementary, and over the float arithmetic that the step
/// verifier delegates to this contract.
/// @dev Each file there mirrors the file with the same name in src/numerics/elementary, function by function and line
/// by line. The error bounds are derived in src/numerics/elementary. All numbers in a function fit 256 bits, according
/// to the comments, and therefore the arithmetic stays unchecked. The same applies to contracts/verifier/elementary64
/// and src/numerics/elementary64.
contract Elementary is IElementary {
    /// @inheritdoc IElementary
    function evaluate(uint256 opcode, uint256 dtype, uint256 a, uint256 b) external pure returns (uint256 word) {
        if (dtype == DType.FLOAT32) return _evaluate(opcode, dtype, a & 0xffffffff, b & 0xffffffff);
        if (opcode < Signature.EXP && opcode != Signature.POW) return FloatOperation.run(opcode, a, b, dtype);
        if (dtype == DType.FLOAT64) return Elementary64.evaluate(opcode, a, b);
        // 16-bit operands are also float32 words, and so is the result after rounding once to 16 bits.
        a = Float.convert(a, dtype, DType.FLOAT32);
        b = Float.convert(b, dtype, DType.FLOAT32);
        return Float.convert(_evaluate(opcode, dtype, a, b), DType.FLOAT32, dtype);
    }

    function _evaluate(uint256 opcode, uint256 dtype, uint256 a, uint256 b) private pure returns (uint256 word) {
        if (opcode == Signature.EXP) return Exp.exp(a, dtype);
        if (opcode == Signature.LOG) return Log.log(a, dtype);
        if (opcode == Signature.TANH) return Tanh.tanh(a, dtype);
        if (opcode == Signature.SIGMOID) return Sigmoid.sigmoid(a, dtype);
        if (opcode == Signature.ERF) return Erf.erf(a, dtype);
        if (opcode == Signature.POW) return Pow.pow(a, b, dtype);
        if (opcode == Signature.EXPM1) return Expm1.expm1(a, dtype);
        if (opcode == Signature.LOG1P) return Log1p.log1p(a, dtype);
        if (opcode == Signature.SIN) return Sin.sin(a, dtype);
        if (opcode == Signature.COS) return Cos.cos(a, dtype);
        if (opcode == Signature.TAN) return Tan.tan(a, dtype);
        if (opcode == Signature.ASIN) return Asin.asin(a, dtype);
        if (opcode == Signature.ACOS) return Acos.acos(a, dtype);
        if (opcode == Signature.ATAN) return Atan.atan(a, dtype);
        if (opcode == Signature.SINH) return Sinh.sinh(a, dtype);
        if (opcode == Signature.COSH) return Cosh.cosh(a, dtype);
        if (opcode == Signature.ASINH) return Asinh.asinh(a, dtype);
        if (opcode == Signature.ACOSH) return Acosh.acosh(a, dtype);
        if (opcode == Signature.ATANH) return Atanh.atanh(a, dtype);
        revert UnknownFunction(opcode);
    }
}
