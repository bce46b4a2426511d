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
import {Float} from "./Float.sol";
import {FloatOperation} from "./FloatOperation.sol";
import {IElementary} from "./IElementary.sol";

/// @title The dispatch over the functions of contracts/verifier/elementary, and over the arithmetic of the float types
/// that the step verifier leaves to this contract.
/// @dev Each file there mirrors the file of the same name in src/numerics/elementary, function by function and line by
/// line; that is where the error bounds are derived. All numbers of a function fit 256 bits, as the comments say, so
/// the arithmetic is unchecked.
contract Elementary is IElementary {
    uint256 private constant POW = 0x18;
    uint256 private constant EXP = 0x50;
    uint256 private constant LOG = 0x51;
    uint256 private constant TANH = 0x52;
    uint256 private constant SIGMOID = 0x53;
    uint256 private constant ERF = 0x54;
    uint256 private constant EXPM1 = 0x55;
    uint256 private constant LOG1P = 0x56;
    uint256 private constant SIN = 0x57;
    uint256 private constant COS = 0x58;
    uint256 private constant TAN = 0x59;
    uint256 private constant ASIN = 0x5a;
    uint256 private constant ACOS = 0x5b;
    uint256 private constant ATAN = 0x5c;
    uint256 private constant SINH = 0x5d;
    uint256 private constant COSH = 0x5e;
    uint256 private constant ASINH = 0x5f;
    uint256 private constant ACOSH = 0x60;
    uint256 private constant ATANH = 0x61;

    /// @inheritdoc IElementary
    function evaluate(uint256 opcode, uint256 dtype, uint256 a, uint256 b) external pure returns (uint256 word) {
        if (dtype == DType.FLOAT32) return _evaluate(opcode, dtype, a & 0xffffffff, b & 0xffffffff);
        if (opcode < EXP && opcode != POW) return FloatOperation.run(opcode, a, b, dtype);
        // Operands of 16 bits are float32 words too, and so is their result, which was rounded once to 16 bits.
        a = Float.convert(a, dtype, DType.FLOAT32);
        b = Float.convert(b, dtype, DType.FLOAT32);
        return Float.convert(_evaluate(opcode, dtype, a, b), DType.FLOAT32, dtype);
    }

    function _evaluate(uint256 opcode, uint256 dtype, uint256 a, uint256 b) private pure returns (uint256 word) {
        if (opcode == EXP) return Exp.exp(a, dtype);
        if (opcode == LOG) return Log.log(a, dtype);
        if (opcode == TANH) return Tanh.tanh(a, dtype);
        if (opcode == SIGMOID) return Sigmoid.sigmoid(a, dtype);
        if (opcode == ERF) return Erf.erf(a, dtype);
        if (opcode == POW) return Pow.pow(a, b, dtype);
        if (opcode == EXPM1) return Expm1.expm1(a, dtype);
        if (opcode == LOG1P) return Log1p.log1p(a, dtype);
        if (opcode == SIN) return Sin.sin(a, dtype);
        if (opcode == COS) return Cos.cos(a, dtype);
        if (opcode == TAN) return Tan.tan(a, dtype);
        if (opcode == ASIN) return Asin.asin(a, dtype);
        if (opcode == ACOS) return Acos.acos(a, dtype);
        if (opcode == ATAN) return Atan.atan(a, dtype);
        if (opcode == SINH) return Sinh.sinh(a, dtype);
        if (opcode == COSH) return Cosh.cosh(a, dtype);
        if (opcode == ASINH) return Asinh.asinh(a, dtype);
        if (opcode == ACOSH) return Acosh.acosh(a, dtype);
        if (opcode == ATANH) return Atanh.atanh(a, dtype);
        revert UnknownFunction(opcode);
    }
}
